"""The systems of the papers' tables, the protocol, and training and testing on one year.

A system is a ranking with tuned or fixed parameters. The papers leave some questions of their protocol open;
these are the options of `Protocol`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

import esr
from esr import models
from esr.batch import runs
from esr.batch.runs import Scores
from esr.errors import EsrError
from esr.index.factory import open_writer
from esr.index.filters import NO_FILTERS
from esr.index.writer import LoadOptions
from esr.lab import measures
from esr.lab.grid import build_default_grid, expand_grid
from esr.lab.reproduce.data import ANALYZER, Year
from esr.lab.tuner import Task, Tuner
from esr.parameter import Value
from esr.plans.plan import CandidateRule
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery, open_searcher
from esr.text.document import Document, Located

BASELINES = "baselines"
PLAIN = "language models, p(d|s) uniform"
PRIOR = "language models with p(d|s)"
VECTOR = "tfisf and BM25 with context"
LENGTH = "language models with a length prior"
CONTEXTS = ("document", "surrounding")
ALONE = ("jm", "dir")
WITH_CONTEXT = ("3mm", "2s", "2si")


@dataclass(frozen=True)
class System:
    """A ranking of the tables. An `is_fixed` system is not tuned.

    `inherits` has pairs of a tuned system and the name of the parameter to take from it.
    """

    name: str
    group: str
    ranking: Ranking
    is_fixed: bool = False
    inherits: tuple[tuple[str, str], ...] = ()


def with_prior(name: str) -> str:
    """The name of the same system with the importance prior p(d|s)."""
    return f"{name} + p(d|s)"


def language_models() -> list[str]:
    """The names of the language models without a prior."""
    return [system.name for system in SYSTEMS.values() if system.group == PLAIN]


def _build_systems() -> Iterator[System]:
    yield System("tfisf", BASELINES, Ranking("tfisf"))
    yield System("bm25", BASELINES, Ranking("bm25", params={"k3": 0.0}))
    yield System("okapi", BASELINES, Ranking("bm25", params={"k1": 1.2, "b": 0.75, "k3": 0.0}), is_fixed=True)
    yield System("kld", BASELINES, Ranking("kld"))
    for group, priors in ((PLAIN, {}), (PRIOR, {"importance": 1.0})):
        for model, context in _models():
            name = f"{model} {context}" if context else model
            yield System(with_prior(name) if priors else name, group, Ranking(model, context, priors=priors))
    yield System("idfdoc", VECTOR, Ranking("tfisf", params={"idf": "document"}))
    for context in CONTEXTS:
        yield System(f"tfmix {context}", VECTOR, Ranking("tfmix", context))
        with_idfdoc = Ranking("tfmix", context, params={"idf": "document"})
        yield System(f"tfmix {context} + idfdoc", VECTOR, with_idfdoc)
    for context in CONTEXTS:
        yield System(f"bm25f {context}", VECTOR, Ranking("bm25f", context), inherits=(("bm25", "k1"),))
    for model in ALONE:
        yield System(f"{model} + length", LENGTH, Ranking(model, priors={"length": 1.0}))


def _models() -> Iterator[tuple[str, str | None]]:
    yield from ((model, None) for model in ALONE)
    yield from ((model, context) for model in WITH_CONTEXT for context in CONTEXTS)


SYSTEMS: dict[str, System] = {system.name: system for system in _build_systems()}


# The protocol


MAIN = "2002"
"""The training year of the papers' main tables."""
RANKED = {
    "matching": "sentences with at least one query term, for every system",
    "context": "every sentence for models with a context, matching ones for the others",
    "all": "every sentence, for every system",
}
STATISTICS = {
    "year": "computed from all documents of the year",
    "topic": "computed from the documents of each topic",
}
MEASURES = ("P@10", "AP", "RPrec")
OBJECTIVE = "AP"
TOP = 100


@dataclass(frozen=True)
class Protocol:
    """The open questions of the papers' protocol. `grid` has values to try instead of the papers'."""

    ranked: str = "matching"
    statistics: str = "year"
    depth: int = 1000
    grid: Mapping[str, Sequence[Value]] = field(default_factory=dict)

    def candidates(self, model: str) -> CandidateRule:
        """The candidate rule of a model, within the documents of a topic."""
        if self.ranked == "context":
            return "all" if models.get(model).contexts else "matching"
        return "all" if self.ranked == "all" else "matching"

    def lines(self) -> list[str]:
        """The choices in words, for the head of a report."""
        grid = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in self.grid.items())
        return [
            f"ranked of a topic's own documents: {RANKED[self.ranked]} (`--ranked {self.ranked}`; open)",
            f"statistics are {STATISTICS[self.statistics]} (`--statistics {self.statistics}`; open)",
            f"a ranking ends after {self.depth:,} sentences (`--depth {self.depth}`; open)",
            "queries are the topics' titles; stop words are Snowball's (the papers do not name theirs); "
            "no stemming",
            f"tuned for {OBJECTIVE} on the training year (the papers do not name their objective); "
            "ties go to the first setting",
            f"grids: the papers', except {grid}" if grid else "grids: the papers' (docs/formulas.md, A.14)",
            "3MM is the flat form, p(s|d) comes from the whole document and is not divided by length",
            "surrounding sentences: the previous and the next one in the same document",
            "BM25f has the k1 of the tuned BM25 and b_context 0.75; idfdoc counts both N and sf in documents",
            f"average length: terms of the best {TOP} sentences, averaged over a topic, then over topics",
            "relevant sentences that the archive lacks count as missed, as in trec_eval",
            "significance: paired two-sided t-test over topics, without correction for multiple tests",
        ]


# Indexes and experiments


class TopicIndex(NamedTuple):
    """An index, and the tasks to search for in it."""

    searcher: Searcher
    tasks: list[Task]


@contextmanager
def open_indexes(year: Year, work: Path, statistics: str) -> Iterator[list[TopicIndex]]:
    """Open one index for the year, or with `topic` statistics one per topic, in the order of topics."""
    folder = work / year.name
    with ExitStack() as stack:
        if statistics == "year":
            place = _build_index(year.documents, folder / "index")
            yield [TopicIndex(stack.enter_context(open_searcher(str(place))), list(year.tasks))]
            return
        by_id = {document.id: document for document in year.documents}
        indexes = []
        for number, task in enumerate(year.tasks):
            documents = [by_id[id] for id in year.allowed[task.topic]]
            place = _build_index(documents, folder / "topics" / f"{number:03}")
            indexes.append(TopicIndex(stack.enter_context(open_searcher(str(place))), [task]))
        yield indexes


def _build_index(documents: Sequence[Document], where: Path) -> Path:
    """Build the index of these documents, or reuse it if an earlier call built it."""
    digest_file = where.with_name(f"{where.name}.sha256")
    digest = hashlib.sha256(esr.__version__.encode())
    for document in documents:
        digest.update(repr((document.id, [(s.id, s.text) for s in document.sentences])).encode())
    if not digest_file.exists() or digest_file.read_text("utf-8") != digest.hexdigest():
        digest_file.unlink(missing_ok=True)
        # Without titles: in the papers, a document consists of its sentences.
        options = LoadOptions(if_exists="replace", analyzer=ANALYZER, title=False)
        open_writer(str(where), options).load(Located(str(where), d) for d in documents)
        digest_file.write_text(digest.hexdigest(), "utf-8")
    return where


@dataclass(frozen=True)
class TrainedSystem:
    """A system's best setting on a year, its mean figure there, and the number of settings tried."""

    ranking: Ranking
    figure: float
    tried: int


@dataclass(frozen=True)
class SystemFigures:
    """A setting's figures on a year: by measure and topic, their means, and the mean length of its top."""

    values: measures.Values
    means: Mapping[str, float]
    top_length: float


class YearExperiment:
    """Trains and tests systems on one year."""

    def __init__(self, year: Year, topic_indexes: list[TopicIndex], protocol: Protocol) -> None:
        self.year = year
        self._topic_indexes = topic_indexes
        self._protocol = protocol
        self._tuners = [Tuner(i.searcher, i.tasks, OBJECTIVE, protocol.depth) for i in topic_indexes]
        self._figures: dict[str, SystemFigures] = {}

    def train(self, tick: Callable[[str], None] = lambda name: None) -> dict[str, TrainedSystem]:
        """The best setting of every system, in the order of SYSTEMS. `tick` is called with each name."""
        trained: dict[str, TrainedSystem] = {}
        for system in SYSTEMS.values():
            trained[system.name] = self._train_system(system, trained)
            tick(system.name)
        return trained

    def _train_system(self, system: System, trained: Mapping[str, TrainedSystem]) -> TrainedSystem:
        inherited = {name: trained[other].ranking.params[name] for other, name in system.inherits}
        start = replace(
            system.ranking,
            params={**system.ranking.params, **inherited},
            candidates=self._protocol.candidates(system.ranking.model),
        )
        default_grid = {} if system.is_fixed else build_default_grid(start)
        grid = {name: self._protocol.grid.get(name, values) for name, values in default_grid.items()}
        settings = expand_grid(start, grid)
        means = np.hstack([tuner.compute_figures(settings) for tuner in self._tuners]).mean(axis=1)
        best = int(np.argmax(means))
        return TrainedSystem(settings[best], float(means[best]), len(settings))

    def test(self, ranking: Ranking) -> SystemFigures:
        """A setting's figures on the run that `esr run` would write."""
        key = json.dumps(ranking.as_dict(), sort_keys=True)
        if key not in self._figures:
            run = self.run(ranking)
            values = measures.evaluate(MEASURES, self.year.qrels, run)
            means = {name: measures.mean(name, by_topic.values()) for name, by_topic in values.items()}
            self._figures[key] = SystemFigures(values, means, self._measure_top_length(run))
        return self._figures[key]

    def run(self, ranking: Ranking, *, restricted: bool = True) -> Scores:
        """The scores of every topic's sentences.

        Unless `restricted`, documents of all topics are searched.
        """
        run: Scores = {}
        for searcher, tasks in self._topic_indexes:
            for task in tasks:
                filters = task.filters if restricted else NO_FILTERS
                try:
                    answer = searcher.search(
                        task.query,
                        self._protocol.depth,
                        ranking=ranking,
                        filters=filters,
                        records=False,
                        literal=True,
                    )
                except UnsearchableQuery:  # only stop words: no answer
                    continue
                if answer.incomplete:
                    raise EsrError(f"topic {task.topic}: the answer is incomplete: {answer.incomplete}")
                lines = (line.split() for line in runs.format_lines(task.topic, answer.hits, "esr"))
                run[task.topic] = {words[2]: float(words[4]) for words in lines}
        return run

    def _measure_top_length(self, run: Scores) -> float:
        """The mean length of the top sentences of a topic, averaged over topics with an answer."""
        lengths = self.year.lengths
        means = [np.mean([lengths[s] for s in list(scores)[:TOP]]) for scores in run.values() if scores]
        return float(np.mean(means)) if means else 0.0
