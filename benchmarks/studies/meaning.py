"""Write the figures of docs/meaning-notes.md: the gain from an encoder's vectors over words alone.

    python -m benchmarks.studies.meaning COLLECTIONS [MORE...] --work FOLDER

COLLECTIONS is as in `benchmarks.studies.results`; folders of MORE have claims-dev and events-dev. FOLDER
stores indexes with vectors and the AP of each topic, so that an interrupted call resumes. Encoding takes some
forty minutes on two cores, the rankings a few more. With `--check`, the topics are later ones, by which no
weight was chosen; they have a separate table.

With `--kinds`, the table has a row for each collection and kind of query, and a column for the weights of
each kind. `--only` may name any collections with docs.jsonl, topics.tsv and qrels.txt.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from msgspec.structs import replace

from benchmarks.studies.results import COLLECTIONS as LARGER
from esr import loaders
from esr.enrichment.enricher import Enricher
from esr.index.factory import open_writer
from esr.index.filters import NO_FILTERS
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.writer import LoadOptions
from esr.lab import measures
from esr.lab.judgements import read_qrels
from esr.lab.significance import SystemComparison, compare_systems, correct_p_values
from esr.ranking.query_kinds import SHORT, find_kind, list_kinds
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.rerank_context import VectorWeights
from esr.ranking.second_stage.signals import RankingSignal, signal_from_dict
from esr.topics.topic_files import read_topics

TARGET = Path(__file__).resolve().parents[2] / "docs" / "meaning-notes.md"
BEGIN, END = "<!-- figures: python -m benchmarks.studies.meaning -->", "<!-- end of figures -->"
BEGIN_CHECK = "<!-- figures: python -m benchmarks.studies.meaning --check -->"
BEGIN_KINDS = "<!-- figures: python -m benchmarks.studies.meaning --kinds -->"
COLLECTIONS = (*LARGER, "claims-dev", "events-dev")
DEPTH = 1000
TOPICS = 400
"""Topics of each collection on which systems are compared: encoding all of them takes hours."""
FUSION_RANK = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke & Büttcher 2009)."""


def for_kind(name: str) -> Ranking:
    """`hybrid` with the parameters of a kind of query, for all queries."""
    kind, hybrid = list_kinds()[name], Ranking.from_file("hybrid")
    return replace(hybrid, params=kind.model, rerank=(RankingSignal("meaning", kind.weights),))


HYBRID = for_kind(SHORT)
WORDS, MEANING = "words alone (the default)", "meaning alone"
Run = Mapping[str, float]
System = Callable[[Searcher, str], Run]


def by_ranking(ranking: Ranking) -> System:
    def search(searcher: Searcher, query: str) -> Run:
        hits = searcher.search(query, DEPTH, ranking=ranking, records=False, literal=True).hits
        return {hit.sentence_id: hit.score for hit in hits}

    return search


def with_settings(**settings: float) -> System:
    (signal,) = HYBRID.rerank
    changed = signal_from_dict({**signal.as_dict(), **settings})
    return by_ranking(replace(HYBRID, rerank=(changed,)))


def by_vectors(searcher: Searcher, query: str) -> Run:
    (signal,) = HYBRID.rerank
    prepared = searcher.prepare(query, HYBRID, literal=True)
    encoder, vector = prepared.vectors.vector(VectorWeights.of(signal.settings()))
    hits = searcher.index.nearest(encoder, vector, DEPTH, None, NO_FILTERS)
    return {hit.sentence_id: hit.score for hit in hits}


def by_fusion(searcher: Searcher, query: str) -> Run:
    fused: dict[str, float] = defaultdict(float)
    for run in (by_ranking(Ranking())(searcher, query), by_vectors(searcher, query)):
        for rank, sentence in enumerate(sorted(run, key=lambda id: -run[id]), 1):
            fused[sentence] += 1 / (FUSION_RANK + rank)
    return fused


SYSTEMS: Mapping[str, System] = {
    WORDS: by_ranking(Ranking()),
    MEANING: by_vectors,
    "reciprocal rank fusion of both": by_fusion,
    "`hybrid`, by kind": by_ranking(Ranking.from_file("hybrid")),
    "`short` for all": by_ranking(HYBRID),
    "words as by default": by_ranking(replace(HYBRID, params={})),
    "feedback 0": with_settings(feedback=0),
    "empty 0": with_settings(empty=0),
    "feedback 0, empty 0": with_settings(feedback=0, empty=0),
    "weight 15": with_settings(w=15),
    "weight 50": with_settings(w=50),
    "nu .2, lambda .1": with_settings(nu=0.2, **{"lambda": 0.1}),
}
OF_KINDS: Mapping[str, System] = {
    "words": by_ranking(Ranking()),
    "`meaning`": by_ranking(Ranking.from_file("meaning")),
    **{f"as {name}": by_ranking(for_kind(name)) for name in list_kinds()},
    "`hybrid`": by_ranking(Ranking.from_file("hybrid")),
}
FEWEST = 10
"""Kinds with fewer topics in a collection have no row."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", type=Path, nargs="+")
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--only", nargs="+", default=COLLECTIONS, metavar="NAME")
    options.add_argument("--check", action="store_true")
    options.add_argument("--kinds", action="store_true")
    arguments = options.parse_args()
    arguments.work.mkdir(exist_ok=True)
    names = arguments.only
    first = TOPICS if arguments.check else 0
    systems = OF_KINDS if arguments.kinds else SYSTEMS
    found = {
        name: folder / name for folder in arguments.collections for name in names if (folder / name).is_dir()
    }
    values = {
        name: _evaluate(source, arguments.work / name, first, systems) for name, source in found.items()
    }
    if arguments.kinds:
        _write(BEGIN_KINDS, _table_of_kinds(values, found))
    else:
        _write(BEGIN_CHECK if arguments.check else BEGIN, _table(values))


def _write(begin: str, table: list[str]) -> None:
    before, rest = TARGET.read_text("utf-8").split(begin, 1)
    lines = [begin, "", *table, "", END]
    TARGET.write_text(before + "\n".join(lines) + rest.split(END, 1)[1], "utf-8")


def _evaluate(
    source: Path, where: Path, first: int, systems: Mapping[str, System]
) -> dict[str, dict[str, float]]:
    """By system, the AP of each judged topic among TOPICS topics from `first` on."""
    ending = ".kinds.json" if systems is OF_KINDS else ".json"
    stored = where.with_suffix(f".{first}{ending}" if first else ending)
    if stored.exists():
        values: dict[str, dict[str, float]] = json.loads(stored.read_text("utf-8"))
        return values
    if not where.exists():
        documents = loaders.read_documents([str(next(source.glob("docs.jsonl*")))])
        open_writer(str(where), LoadOptions(analyzer="english-stem")).load(documents)
    queries, judged = read_topics_and_judgements(source, first, TOPICS)
    with open_searcher(str(where)) as searcher:
        run_enrichment(searcher.index, Enricher(["vectors"]))
        values = {
            name: measures.evaluate(["AP"], judged, {t: system(searcher, queries[t]) for t in judged})["AP"]
            for name, system in systems.items()
        }
    stored.write_text(json.dumps(values), "utf-8")
    return values


def read_topics_and_judgements(
    source: Path, first: int, count: int
) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """The queries of `count` topics from `first` on, and the judgements of those with a relevant sentence."""
    judgements = read_qrels(next(source.glob("qrels.txt*")))
    topics = read_topics(source / "topics.tsv")[first : first + count]
    queries = {topic.id: topic.query("title") for topic in topics}
    judged = {t: grades for t, grades in judgements.items() if t in queries and any(grades.values())}
    return queries, judged


def _table(values: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    """A row for each system: its AP on each collection, compared with that of words, and the mean AP."""
    compared = {collection: _compare(by_system) for collection, by_system in values.items()}
    lines = ["| ranking | " + " | ".join(values) + " | mean |", "| --- |" + " ---: |" * (len(values) + 1)]
    reference = _mean([_mean(by_system[WORDS].values()) for by_system in values.values()])
    for name in SYSTEMS:
        means = [_mean(by_system[name].values()) for by_system in values.values()]
        marks = [compared[c][name].mark.replace("*", "\\*") if name != WORDS else "" for c in values]
        cells = [f"{mean:.4f}{mark}" for mean, mark in zip(means, marks, strict=True)]
        ratio = "" if name == WORDS else f" (× {_mean(means) / reference:.3f})"
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {_mean(means):.4f}{ratio} |")
    return lines


def _table_of_kinds(
    values: Mapping[str, Mapping[str, Mapping[str, float]]], sources: Mapping[str, Path]
) -> list[str]:
    """A row for each collection and kind of query with enough topics: the AP of each system."""
    lines = ["| collection | kind | topics | " + " | ".join(OF_KINDS) + " |"]
    lines.append("| --- | --- |" + " ---: |" * (len(OF_KINDS) + 1))
    for collection, by_system in values.items():
        texts = {topic.id: topic.query("title") for topic in read_topics(sources[collection] / "topics.tsv")}
        for kind in list_kinds():
            own = [topic for topic in by_system["words"] if find_kind(texts[topic]).name == kind]
            means = [f"{_mean([of[topic] for topic in own]):.3f}" for of in by_system.values() if own]
            if len(own) >= FEWEST:
                lines.append(f"| {collection} | {kind} | {len(own)} | " + " | ".join(means) + " |")
    return lines


def _compare(values: Mapping[str, Mapping[str, float]]) -> dict[str, SystemComparison]:
    """Each system compared with words alone, corrected for the number of systems."""
    names = [name for name in SYSTEMS if name != WORDS]
    compared = correct_p_values([compare_systems(values[name], values[WORDS]) for name in names])
    return dict(zip(names, compared, strict=True))


def _mean(values: Collection[float]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
