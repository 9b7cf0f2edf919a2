"""Write the figures of docs/meaning-notes.md on tables: AP by the size of the sample, and of mixed states.

    python -m benchmarks.studies.meaning_table COLLECTIONS [MORE...] --work FOLDER

COLLECTIONS and FOLDER are those of `benchmarks.studies.meaning`, which stores indexes with the encoder's own
vectors in FOLDER. In a copy of each, tables take the place of the encoder for a part of the documents. That
takes a minute for a state of a collection.

With `--languages de ru`, COLLECTIONS has a folder for each language as in `benchmarks.studies.languages`. The
encoder is the multilingual one, the indexes are made in FOLDER, and a separate table is written.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.studies.languages import find_judgements
from benchmarks.studies.meaning import COLLECTIONS, TARGET, TOPICS, by_ranking, read_topics_and_judgements
from esr import loaders
from esr.enrichment.enricher import DEFAULT_SETTINGS, Enricher, VectorSettings
from esr.enrichment.recipe import Recipe
from esr.enrichment.table_enricher import TableEnricher, fit_to_documents, load_pieces
from esr.index.contract import Index
from esr.index.factory import open_writer
from esr.index.questions import MainEncoder, Summary, Vectors
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.runs.table_run import choose_sample
from esr.index.writer import LoadOptions
from esr.lab import measures
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.analyzer_definitions import choose_analyzer
from esr.text.document import Document
from esr.text.sentence_enrichment import VECTORS, QuantizedVector, SentenceEnrichment

BEGIN, END = "<!-- figures: python -m benchmarks.studies.meaning_table -->", "<!-- end of figures -->"
BEGIN_LANGUAGES = "<!-- figures: python -m benchmarks.studies.meaning_table --languages de ru -->"
MULTILINGUAL = VectorSettings("use-multilingual-v3")
WORDS, ENCODER = "words alone", "`hybrid`, all by the encoder"
Encoded = Sequence[tuple[Document, Sequence[QuantizedVector | None]]]
Queries = Mapping[str, str]
Judged = Mapping[str, Mapping[str, int]]


class State(NamedTuple):
    """A table fitted to a share of the sentences, or to a number of them, and the share not encoded by it."""

    name: str
    fitted: float
    by_encoder: float


STATES = (
    State("fitted to 5 %", 0.05, 0.05),
    State("fitted to 10 %", 0.1, 0.1),
    State("fitted to 10 %, sample by the table too", 0.1, 0.0),
    State("fitted to 20 %", 0.2, 0.2),
    State("fitted to 50 %", 0.5, 0.5),
    State("fitted to 10 %, 50 % by the encoder", 0.1, 0.5),
    State("fitted to 10 %, 90 % by the encoder", 0.1, 0.9),
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", type=Path, nargs="+")
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--only", nargs="+", default=COLLECTIONS, metavar="NAME")
    options.add_argument("--languages", nargs="+", default=(), metavar="CODE")
    arguments = options.parse_args()
    values: dict[str, Mapping[str, float]] = {}
    for name in arguments.languages or arguments.only:
        sources = [folder / name for folder in arguments.collections if (folder / name).is_dir()]
        where = arguments.work / name
        if sources and arguments.languages:
            values[name] = _evaluate(*_load_language(sources[0], where), where, MULTILINGUAL, STATES[1:3])
        elif sources:
            values[name] = _evaluate(
                *read_topics_and_judgements(sources[0], 0, TOPICS), where, DEFAULT_SETTINGS
            )
    begin = BEGIN_LANGUAGES if arguments.languages else BEGIN
    before, rest = TARGET.read_text("utf-8").split(begin, 1)
    TARGET.write_text(
        before + "\n".join([begin, "", *_format(values), "", END]) + rest.split(END, 1)[1], "utf-8"
    )


def _load_language(source: Path, where: Path) -> tuple[Queries, Judged]:
    """Load and encode the documents of a language. Returns its queries and their judgements."""
    located = list(loaders.read_documents([str(source / "docs.jsonl.gz")]))
    analyzer = choose_analyzer(each.document.language for each in located).analyzer
    open_writer(str(where), LoadOptions(analyzer=analyzer, if_exists="replace")).load(located)
    with open_searcher(str(where)) as searcher:
        run_enrichment(searcher.index, Enricher([VECTORS], vectors=MULTILINGUAL))
    judged = dict(find_judgements([each.document for each in located], source))
    topics = (source / "topics.tsv").read_text("utf-8").splitlines()
    return dict(line.split("\t", 1) for line in topics), judged


def _evaluate(
    queries: Queries, judged: Judged, where: Path, settings: VectorSettings, states: Sequence[State] = STATES
) -> dict[str, float]:
    """The mean AP of words, of the encoder, and of each state."""
    copy = where.with_name(f"{where.name}.table")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(where, copy)

    def measure(ranking: Ranking) -> float:
        with open_searcher(str(copy)) as searcher:
            run = {topic: by_ranking(ranking)(searcher, queries[topic]) for topic in judged}
        by_topic = measures.evaluate(["AP"], judged, run)["AP"]
        return sum(by_topic.values()) / len(by_topic)

    hybrid = Ranking.from_file("hybrid")
    means = {WORDS: measure(Ranking()), ENCODER: measure(hybrid)}
    with open_searcher(str(copy)) as searcher:
        encoded = _read_vectors(searcher.index)
    for state in states:
        with open_searcher(str(copy)) as searcher:
            count = searcher.index.status(Summary())["sentences"]
            samples = [
                choose_sample(searcher.index, settings, int(share * count))
                for share in (state.fitted, state.by_encoder)
            ]
            chosen = [{document.id for document in sample.documents} for sample in samples]
            fitted, by_encoder = ([pair for pair in encoded if pair[0].id in ids] for ids in chosen)
            tokenizer = samples[0].tokenizer
            pieces = load_pieces(settings, tokenizer)
            table = TableEnricher(fit_to_documents(settings, tokenizer, fitted, pieces).to_bytes())
            documents = [document for document, _ in encoded if document.id not in chosen[1]]
            by_table = zip(documents, table.enrich_batch(documents), strict=True)
            _store(searcher.index, table.recipe, [(d.id, sentences) for d, sentences in by_table])
            by_own = [(d.id, list(map(_enrich, vectors))) for d, vectors in by_encoder]
            _store(searcher.index, Enricher([VECTORS], vectors=settings).recipe, by_own)
        means[state.name] = measure(hybrid)
    return means


def _enrich(vector: QuantizedVector | None) -> SentenceEnrichment:
    return SentenceEnrichment({}, None, None, vector)


def _store(index: Index, recipe: Recipe, batch: Sequence[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
    with index.enrichment() as enrichment:
        enrichment.store(recipe, batch)


def _read_vectors(index: Index) -> Encoded:
    encoder = index.status(MainEncoder())
    assert encoder is not None, "run benchmarks.studies.meaning first"
    encoded = []
    for document in index.documents():
        ids = [sentence.id for sentence in document.sentences]
        encoded.append((document, index.read(ids, Vectors(encoder))))
    return encoded


def _format(values: Mapping[str, Mapping[str, float]]) -> list[str]:
    """A row for each state, with the share of the encoder's gain over words."""
    lines = ["| vectors | " + " | ".join(values) + " |", "| --- |" + " ---: |" * len(values)]
    for name in next(iter(values.values())):
        cells = []
        for means in values.values():
            gain = (means[name] - means[WORDS]) / (means[ENCODER] - means[WORDS])
            cells.append(f"{means[name]:.4f}" + ("" if name in (WORDS, ENCODER) else f" ({gain:.0%})"))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
