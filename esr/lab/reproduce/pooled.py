"""The fourth paper's experiment: the topics of both years in one collection, by several readings of it.

The paper ranks sentences of AQUAINT by the judgements of the Novelty track, which are of the topics' own
documents alone. Sentences of AQUAINT that are in the track are the track's, with its ids; others are split by
esr, have no parse, and count as not relevant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from esr import loaders
from esr.index.filters import NO_FILTERS
from esr.lab import measures
from esr.lab.reproduce.data import Year
from esr.lab.reproduce.judging import CROSSED
from esr.lab.reproduce.systems import (
    BOTH_YEARS,
    EVALUATED,
    MRF_MODELS,
    MRF_SUFFIXES,
    Protocol,
    SystemFigures,
    TrainedSystem,
)
from esr.lab.reproduce.training import TopicIndex, YearExperiment, build_index, mean_values
from esr.ranking.searcher import open_searcher
from esr.text.document import Document

READINGS = {
    "topic": "the documents of the topic",
    "pooled": "the documents of all topics of both years",
    "aquaint": "all of AQUAINT",
}
POOLED_SYSTEMS = (
    "tfisf",
    "kld",
    *(model + suffix for suffix in MRF_SUFFIXES.values() for model in MRF_MODELS),
)
Pooled = dict[tuple[str, str], dict[str, SystemFigures]]
Tick = Callable[[str], None]


def cross(
    experiments: Mapping[str, YearExperiment], trained: Mapping[str, Mapping[str, TrainedSystem]]
) -> dict[str, SystemFigures]:
    """Each system on the topics of both years, with its setting of the other year."""
    figures = {}
    for system in POOLED_SYSTEMS:
        if not all(system in trained[year] for year in BOTH_YEARS):
            continue
        values: measures.Values = {name: {} for name in EVALUATED}
        for year, other in zip(BOTH_YEARS, reversed(BOTH_YEARS), strict=True):
            for name, by_topic in experiments[year].test(trained[other][system].ranking).values.items():
                values[name] |= by_topic
        figures[system] = SystemFigures(values, mean_values(values), 0.0)
    return figures


def measure_pooled(
    years: Mapping[str, Year], aquaint: Sequence[Path], work: Path, protocol: Protocol, tick: Tick
) -> Pooled:
    """The systems in one collection of both years' documents, and in AQUAINT if there is any.

    Empty unless there are both years.
    """
    if not set(BOTH_YEARS) <= set(years):
        return {}
    documents = {document.id: document for year in BOTH_YEARS for document in years[year].documents}
    places = {"pooled": build_index(documents.values(), work / "pooled" / "index", protocol.enrich)}
    if aquaint:
        tick("indexing AQUAINT")
        digest = _digest(documents, aquaint)
        places["aquaint"] = build_index(
            _read_aquaint(documents, aquaint), work / "aquaint" / "index", digest=digest
        )
    pooled: Pooled = {}
    for reading, place in places.items():
        with ExitStack() as stack:
            searcher = stack.enter_context(open_searcher(str(place)))
            experiments = {}
            for name in BOTH_YEARS:
                tasks = [replace(task, filters=NO_FILTERS) for task in years[name].tasks]
                experiments[name] = YearExperiment(years[name], [TopicIndex(searcher, tasks)], protocol)
            trained = {
                name: experiment.train(POOLED_SYSTEMS, lambda system, r=reading: tick(f"{r} {system}"))  # type: ignore[misc]
                for name, experiment in experiments.items()
            }
            pooled[CROSSED, reading] = cross(experiments, trained)
    return pooled


def _read_aquaint(documents: Mapping[str, Document], files: Sequence[Path]) -> Iterator[Document]:
    """The documents of AQUAINT. Those of the track are read as the track has them."""
    yield from documents.values()
    for path in files:
        for _, document in loaders.read_documents([str(path)], "trec"):
            if document.id not in documents:
                yield document


def _digest(documents: Mapping[str, Document], files: Sequence[Path]) -> str:
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    texts = [(id, [(s.id, s.text, s.parse) for s in d.sentences]) for id, d in documents.items()]
    return hashlib.sha256(repr((states, texts)).encode()).hexdigest()
