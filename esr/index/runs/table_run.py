"""Fits the table of an index (`esr.encoders.table`) to a sample of its documents, and encodes all by it.

The sample gets the encoder's own vectors, which are stored as by `esr enrich --only vectors`. Then the table
is stored, and all other documents get its vectors. Each step is durable, so an interrupted run resumes: it
chooses the same sample, and the same vectors give the same table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from esr.enrichment.copy_finder import mix_numbers
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.enrichment.table_enricher import (
    Encoded,
    TableEnricher,
    choose_texts,
    count_pieces,
    describe_unknown,
    find_tokenizer,
    fit_to_documents,
    load_pieces,
)
from esr.errors import EsrError, NotFound
from esr.index.contract import Index
from esr.index.questions import StoredTable, Summary, Vectors
from esr.index.runs.enrichment_run import RunEnd, run_enrichment
from esr.stdlib import batched
from esr.text.document import Document
from esr.text.sentence_enrichment import TABLE, VECTORS

SAMPLE_SHARE = 0.02
LEAST_SAMPLE, MOST_SAMPLE = 2_000, 10_000
"""The share of an index's sentences to which a table is fitted, and limits of their number."""
CANDIDATES = 4
"""How many times as many sentences as a sample has are read, to choose it from them."""
COMPARED_DOCUMENTS = 200
"""Number of documents that show how many pieces a table lacks."""
RUN, MANY_DOCUMENTS = 16, 16_384
"""From this number of documents on, so many that follow one another are chosen together.

A folder stores the vectors of documents that follow one another in one layer, and searches read all layers.
"""
_PAGE = 6 * RUN
"""Number of documents that are read at once."""
_REFIT = "esr enrich --only table"


class TableReport(Struct):
    """The outcome of a run: documents and sentences of the sample, and those encoded by the table."""

    sample_documents: int = 0
    sample_sentences: int = 0
    documents: int = 0
    sentences: int = 0
    seconds: float = 0.0
    digest: str = ""
    """The digest of the table."""


def run_table(
    index: Index,
    settings: VectorSettings,
    *,
    sample: int | None = None,
    workers: int = 1,
    on_start: Callable[[str, int], None] = lambda step, documents: None,
    on_progress: Callable[[int], object] = lambda documents: None,
) -> TableReport:
    """Fit a table to about `sample` sentences, by default SAMPLE_SHARE of all, and encode all others by it.

    `on_start` is called with the name of a step and its number of documents or pieces, `on_progress` with the
    number done since its last call. Raises UsageError for an encoder that no table can imitate, and EsrError
    if a load replaces the documents meanwhile, or another run the table.
    """
    started = time.perf_counter()
    chosen = choose_sample(index, settings, sample)
    enricher = Enricher([VECTORS], vectors=settings)
    encoder = enricher.recipe.versions["encoder"]
    ids = [document.id for document in chosen.documents]
    run_enrichment(
        index,
        enricher,
        ids=ids,
        workers=workers,
        on_start=lambda done, documents: on_start("sample", documents - done),
        on_progress=on_progress,
    )
    on_start("pieces", count_pieces(chosen.tokenizer))
    pieces = load_pieces(settings, chosen.tokenizer, on_progress)
    on_start("fit", 0)
    encoded = _read_vectors(index.snapshot(), chosen.documents, encoder)
    others = _read_others(index, ids)
    table = fit_to_documents(settings, chosen.tokenizer, encoded, pieces, others).to_bytes()
    with index.enrichment() as enrichment:
        enrichment.store_table(table)
    by_table = TableEnricher(table)
    _require_stored(index, table)
    report = run_enrichment(
        index,
        by_table,
        workers=workers,
        on_start=lambda done, documents: on_start("table", documents - done),
        on_progress=on_progress,
    )
    _require_stored(index, table)
    return TableReport(
        len(chosen.documents),
        sum(len(document.sentences) for document in chosen.documents),
        report.documents,
        report.sentences,
        time.perf_counter() - started,
        by_table.table.digest,
    )


def _require_stored(index: Index, table: bytes) -> None:
    """Raise EsrError unless the index has this table: another run may store its own between two steps."""
    if index.status(StoredTable()) != table:
        raise EsrError(
            f"another run has replaced the table of vectors of {index.where} meanwhile: "
            f"when it has finished, run {_REFIT} again"
        )


def encode_by_table(index: Index) -> int:
    """Encode the documents without a vector by the table, if the index has one. Returns their number.

    Nothing is done if some have vectors with other settings, such as another encoder's, which the table would
    replace. Raises UsageError if a package is missing, and the errors of the engine.
    """
    stored = index.status(StoredTable())
    if stored is None:
        return 0
    enricher = TableEnricher(stored)
    imitated = enricher.recipe.without_table().versions
    for part in index.status(Summary())["enrichment"]:
        made_with = {name: value for name, value in part["made_with"].items() if name != TABLE}
        if part["part"] == VECTORS and made_with != imitated:
            return 0
    return run_enrichment(index, enricher, end=RunEnd(finishes=False)).documents


class Sample(NamedTuple):
    """Documents in the order of their ids, and the tokenizer that splits texts of their collection."""

    documents: list[Document]
    tokenizer: str


def choose_sample(index: Index, settings: VectorSettings, sentences: int | None = None) -> Sample:
    """Documents with at least this number of sentences in all, by default a share of the index's.

    They are chosen from CANDIDATES times as many pseudo-random ones, so that they have many of the word
    pieces. The choice is the same for the same collection. Raises UsageError as `find_tokenizer`.
    """
    share = int(SAMPLE_SHARE * index.status(Summary())["sentences"])
    wanted = min(max(share, LEAST_SAMPLE), MOST_SAMPLE) if sentences is None else sentences
    runs: list[list[Document]] = []
    left, length = CANDIDATES * wanted, _run_length(index)
    for page in batched(_shuffle(index), _PAGE):
        if left <= 0:
            break
        documents = dict(zip(sorted(page), index.documents(positions=sorted(page)), strict=True))
        left -= sum(len(document.sentences) for document in documents.values())
        of_page = groupby(page, key=lambda position: position // length)
        runs += [[documents[position] for position in positions] for _, positions in of_page]
    texts = [[sentence.text for document in run for sentence in document.sentences] for run in runs]
    tokenizer = find_tokenizer(settings, chain.from_iterable(texts))
    chosen = choose_texts(tokenizer, texts, wanted) if runs else []
    sample = (document for number in chosen for document in runs[number])
    return Sample(sorted(sample, key=lambda document: document.id), tokenizer)


def _read_others(index: Index, chosen: Collection[str]) -> Iterator[Document]:
    """Some pseudo-random documents that are not in the sample, of which the ids are given."""
    sample = frozenset(chosen)
    shuffled = _shuffle(index)[: len(sample) + COMPARED_DOCUMENTS]
    others = (d for d in index.documents(positions=sorted(shuffled)) if d.id not in sample)
    return islice(others, COMPARED_DOCUMENTS)


def _shuffle(index: Index) -> list[int]:
    """The positions of all documents in a pseudo-random order, those of an index with many in runs."""
    positions = np.arange(index.status(Summary())["documents"], dtype=np.uint64)
    order: list[int] = np.argsort(
        mix_numbers(positions // np.uint64(_run_length(index))), kind="stable"
    ).tolist()
    return order


def _run_length(index: Index) -> int:
    return RUN if index.status(Summary())["documents"] >= MANY_DOCUMENTS else 1


def describe_unknown_pieces(index: Index) -> str | None:
    """A note if the table lacks many more pieces of the newest documents than of others; otherwise None.

    Raises UsageError if a package is missing, EsrError for a damaged table.
    """
    stored = index.status(StoredTable())
    if stored is None:
        return None
    documents = index.status(Summary())["documents"]
    newest = index.documents(positions=range(max(documents - COMPARED_DOCUMENTS, 0), documents))
    return describe_unknown(stored, newest)


def _read_vectors(index: Index, documents: Sequence[Document], encoder: str) -> Iterator[Encoded]:
    for page in batched(documents, _PAGE):
        ids = [sentence.id for document in page for sentence in document.sentences]
        try:
            vectors = iter(index.read(ids, Vectors(encoder)))
        except NotFound as error:
            raise EsrError(
                f"documents of {index.where} were replaced meanwhile: run {_REFIT} again"
            ) from error
        for document in page:
            yield document, list(islice(vectors, len(document.sentences)))
