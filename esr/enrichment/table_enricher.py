"""Vectors of sentences by a table (`esr.encoders.table`), and how a table is fitted to documents."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from esr.encoders.description import TOKENIZER
from esr.encoders.encoder import Encoder, Floats
from esr.encoders.encoder_folder import cache_folder, find_folder, is_here
from esr.encoders.loaded_models import load_encoder
from esr.encoders.model_server import is_address
from esr.encoders.table import (
    REFIT,
    PieceCounter,
    TableSettings,
    TitledSentence,
    VectorTable,
    choose_by_pieces,
    fit_table,
    learn_tokenizer,
)
from esr.enrichment.enricher import DEFAULT_SETTINGS, SentenceVectors, VectorSettings
from esr.enrichment.recipe import Recipe
from esr.errors import UsageError
from esr.stdlib import cached_property
from esr.text.document import Document
from esr.text.sentence_enrichment import ENCODER_VARIABLE, TABLE, VECTORS, QuantizedVector, SentenceEnrichment

Encoded = tuple[Document, Sequence[QuantizedVector | None]]
"""A document, and the encoder's vectors of its sentences."""
MANY_UNKNOWN = 0.1
"""By how much the share of pieces that a table lacks may grow."""


class TableEnricher:
    """Gives the sentences of documents vectors by a table, which is given in its stored form.

    It takes the place of an `Enricher`. It is cheap to create.
    """

    def __init__(self, table: bytes | memoryview) -> None:
        self._stored = bytes(table)

    def __reduce__(self) -> tuple[Any, ...]:
        return TableEnricher, (self._stored,)

    @cached_property
    def table(self) -> VectorTable:
        """The table. Raises EsrError if it is damaged."""
        return VectorTable.from_bytes(self._stored)

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of the encoder's vectors, with the table's digest."""
        return Recipe((VECTORS,), {**self.table.settings.made_with, TABLE: self.table.digest})

    def enrich_batch(self, documents: Sequence[Document]) -> list[list[SentenceEnrichment]]:
        """The vectors of each document's sentences, in order."""
        vectors = iter(self.table.encode([*_sentences_of(documents)]))
        return [
            [SentenceEnrichment({}, None, None, next(vectors)) for _ in document.sentences]
            for document in documents
        ]

    def load(self) -> None:
        """Read the table before the first document. Raises UsageError if a package is missing."""
        self.table.encode_query("text")

    def describe_missing_models(self, languages: Mapping[str | None, int]) -> list[str]:
        """No model is needed."""
        return []


def default_settings() -> VectorSettings:
    """The settings of tables after loads: the encoder is that of ESR_ENCODER, or else the default one."""
    name = os.environ.get(ENCODER_VARIABLE)
    return VectorSettings(name) if name else DEFAULT_SETTINGS


def describe_missing_encoder(settings: VectorSettings) -> str | None:
    """What to do to have an encoder that is not on this machine; None if it is. Raises EsrError."""
    if is_here(settings.encoder):
        return None
    if is_address(settings.encoder):
        return f"no table can imitate the encoder {settings.encoder}, which is on a server"
    return f"the encoder {settings.encoder} is not on this machine yet: {REFIT} fetches it"


def language_of(settings: VectorSettings) -> str:
    """The code of the only language of an encoder's texts; empty if there are several."""
    return find_folder(settings.encoder).description.language


def versions_of(settings: VectorSettings) -> Mapping[str, str]:
    """What the recipe of an encoder's vectors names."""
    return SentenceVectors(settings).versions


def find_tokenizer(settings: VectorSettings, texts: Iterable[str] = ()) -> str:
    """The tokenizer of an encoder that a table can imitate; for one without, it is learned from the texts.

    Raises UsageError for an encoder on a server, or if a package is missing, and EsrError.
    """
    folder = None if is_address(settings.encoder) else find_folder(settings.encoder)
    if folder is None or folder.description.url:
        raise UsageError(
            f"no table can imitate the encoder {settings.encoder}, which is on a server: "
            "choose another, or run esr enrich --only vectors"
        )
    if TOKENIZER in folder.description.file_names:
        return (folder.path / TOKENIZER).read_text("utf-8")
    return learn_tokenizer(texts)


def choose_texts(tokenizer: str, groups: Sequence[Sequence[str]], wanted: int) -> list[int]:
    """Positions of groups of texts, with `wanted` texts in all, for a sample (`choose_by_pieces`)."""
    return choose_by_pieces(groups, wanted, PieceCounter(tokenizer))


def count_pieces(tokenizer: str) -> int:
    """The number of a tokenizer's pieces."""
    return PieceCounter(tokenizer).size


def load_pieces(
    settings: VectorSettings, tokenizer: str, on_progress: Callable[[int], object] = lambda pieces: None
) -> Floats:
    """The encoder's vectors of a tokenizer's single pieces, of shape (pieces, dimensions).

    Those of its own tokenizer are read from the cache, or computed once. Raises EsrError if the encoder
    cannot be loaded.
    """
    description = find_folder(settings.encoder).description
    path = cache_folder() / f"{description.id.replace(' ', '-')}-single-pieces.npy"
    if not description.takes_text:
        with suppress(OSError, ValueError):  # there is none, or it is damaged
            return np.asarray(np.load(path, allow_pickle=False), np.float32)
    encoder = load_encoder(settings.encoder)
    assert isinstance(encoder, Encoder)  # find_tokenizer refuses others
    if description.takes_text:
        return encoder.encode_alone(PieceCounter(tokenizer).texts, on_progress)
    pieces = encoder.encode_pieces(on_progress)
    with suppress(OSError):  # the next fit computes them again
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npy", delete=False) as file:
            np.save(file, pieces)
        os.replace(file.name, path)
    return pieces


def fit_to_documents(
    settings: VectorSettings,
    tokenizer: str,
    encoded: Iterable[Encoded],
    pieces: Floats,
    others: Iterable[Document] = (),
) -> VectorTable:
    """Fit a table to the vectors of documents, in any order, and to those of pieces (`load_pieces`).

    `others` are documents of the same collection, which show how many pieces these lack. Raises EsrError if
    no sentence has a vector.
    """
    sentences: list[TitledSentence] = []
    vectors: list[QuantizedVector] = []
    for document, of_document in sorted(encoded, key=lambda pair: pair[0].id):
        for sentence, vector in zip(_sentences_of([document]), of_document, strict=True):
            if vector is not None and vector.scale > 0:
                sentences.append(sentence)
                vectors.append(vector)
    of_table = TableSettings(tokenizer, SentenceVectors(settings).versions, settings.title_weight)
    values = np.array([vector.array for vector in vectors], np.float32)
    scales = np.array([vector.scale for vector in vectors], np.float32)
    texts = [sentence.text for sentence in _sentences_of(others)]
    return fit_table(of_table, sentences, values * scales[:, None] if vectors else values, pieces, texts)


def describe_unknown(stored: bytes | memoryview, documents: Iterable[Document]) -> str | None:
    """A note if a table, given in its stored form, lacks many pieces of these documents; otherwise None.

    Raises UsageError if a package is missing, EsrError for a damaged table.
    """
    table = VectorTable.from_bytes(stored)
    share = table.unknown_share([sentence.text for sentence in _sentences_of(documents)])
    if share <= table.expected_unknown + MANY_UNKNOWN:
        return None
    return (
        f"of the pieces of words in the newest documents, {share:.0%} are unknown to the table, and "
        f"{table.expected_unknown:.0%} were when it was fitted: fit it anew with {REFIT}"
    )


def _sentences_of(documents: Iterable[Document]) -> Iterator[TitledSentence]:
    for document in documents:
        for sentence in document.sentences:
            yield TitledSentence(document.title or "", sentence.text)
