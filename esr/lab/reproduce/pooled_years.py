"""The topics of both years in one collection, as the fourth paper has them. There are several readings of it.

It evaluates sentences of AQUAINT by the judgements of the Novelty track, which cover only the documents of
the topics. Sentences of AQUAINT that are in the track have the track's text and ids. All others are split by
esr, have no parse, and count as not relevant.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from esr.lab import measures
from esr.lab.reproduce.protocol import EVALUATED, Protocol, SystemFigures, TrainedSystem
from esr.lab.reproduce.result_store import make_digest
from esr.lab.reproduce.systems import BOTH_YEARS, MRF_MODELS, MRF_SUFFIXES
from esr.lab.reproduce.year import Year
from esr.lab.reproduce.year_experiment import (
    TopicIndex,
    YearExperiment,
    build_index,
    mean_values,
    open_result_store,
)
from esr.plugin import Document
from esr.plugin.provisional import NO_FILTERS, open_searcher, read_documents

READINGS = {
    "topic": "the documents of the topic",
    "pooled": "the documents of all topics of both years",
    "aquaint": "all of AQUAINT",
}
CROSSED = "crossed"
"""The reading in which each topic is ranked with parameters trained on the other year."""
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
    collections = {"pooled": "pooled"}
    tick("indexing both years")
    places = {"pooled": build_index(documents.values(), work / "pooled" / "index", protocol.enrich)}
    if aquaint:
        tick("indexing AQUAINT")
        digest = collections["aquaint"] = _digest(documents, aquaint)
        places["aquaint"] = build_index(
            _read_aquaint(documents, aquaint), work / "aquaint" / "index", digest=digest
        )
    pooled: Pooled = {}
    for reading, place in places.items():
        with ExitStack() as stack:
            searcher = stack.enter_context(open_searcher(str(place)))
            experiments = {}
            for name in BOTH_YEARS:
                tasks = [dataclasses.replace(task, filters=NO_FILTERS) for task in years[name].tasks]
                stored_results = open_result_store(
                    years[name], work, protocol, _name_pool(years, collections[reading])
                )
                experiments[name] = YearExperiment(
                    years[name], [TopicIndex(searcher, tasks)], protocol, stored_results
                )
            trained = {
                name: experiment.train(POOLED_SYSTEMS, lambda system, r=reading: tick(f"{r} {system}"))  # type: ignore[misc]
                for name, experiment in experiments.items()
            }
            pooled[CROSSED, reading] = cross(experiments, trained)
    return pooled


def _name_pool(years: Mapping[str, Year], collection: str) -> str:
    """A name for the documents of both years together that changes with them."""
    texts = [[(d.id, [s.text for s in d.sentences]) for d in years[year].documents] for year in BOTH_YEARS]
    return make_digest(collection, texts)


def _read_aquaint(documents: Mapping[str, Document], files: Sequence[Path]) -> Iterator[Document]:
    """The documents of AQUAINT. Those that are in the track are replaced by the track's version."""
    yield from documents.values()
    for path in files:
        for _, document in read_documents([str(path)], "trec"):
            if document.id not in documents:
                yield document


def _digest(documents: Mapping[str, Document], files: Sequence[Path]) -> str:
    states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    texts = [(id, [(s.id, s.text, s.parse) for s in d.sentences]) for id, d in documents.items()]
    return hashlib.sha256(repr((states, texts)).encode()).hexdigest()
