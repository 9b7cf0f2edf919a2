"""Training and testing of systems on one year, or on the topics of one year in a larger collection."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

import esr
from esr.lab import measures
from esr.lab.curves import (
    Estimates,
    EstimationOptions,
    ValueCounts,
    count_feature_values,
    estimate_indep_and_floe,
)
from esr.lab.grid import Grid, build_default_grid, expand_grid
from esr.lab.reproduce.protocol import EVALUATED, OBJECTIVE, TOP, Protocol, SystemFigures, TrainedSystem
from esr.lab.reproduce.result_store import ResultStore, make_digest
from esr.lab.reproduce.systems import SYSTEMS, System
from esr.lab.reproduce.year import ANALYZER, Year
from esr.lab.tuner import Task, Tuner
from esr.plugin import Document, EsrError
from esr.plugin.provisional import (
    BUILTIN_FEATURES,
    NO_FILTERS,
    Adjustment,
    EvidenceOf,
    Features,
    HasParses,
    LoadOptions,
    Located,
    Ranking,
    Scores,
    Searcher,
    UnsearchableQuery,
    feature_column,
    format_lines,
    get_form,
    open_searcher,
    open_writer,
)


class TopicIndex(NamedTuple):
    """An index and its tasks."""

    searcher: Searcher
    tasks: list[Task]


@contextmanager
def open_indexes(year: Year, work: Path, protocol: Protocol) -> Iterator[list[TopicIndex]]:
    """Open one index for the year, or with `topic` statistics one per topic, in the order of topics."""
    folder = work / year.name
    with ExitStack() as stack:
        if protocol.statistics == "year":
            place = build_index(year.documents, folder / "index", protocol.enrich)
            yield [TopicIndex(stack.enter_context(open_searcher(str(place))), list(year.tasks))]
            return
        by_id = {document.id: document for document in year.documents}
        indexes = []
        for number, task in enumerate(year.tasks):
            documents = [by_id[id] for id in year.allowed[task.topic]]
            place = build_index(documents, folder / "topics" / f"{number:03}", protocol.enrich)
            indexes.append(TopicIndex(stack.enter_context(open_searcher(str(place))), [task]))
        yield indexes


def build_index(
    documents: Iterable[Document], where: Path, enrich: bool = False, digest: str | None = None
) -> Path:
    """Build the index of these documents, or reuse it if an earlier call built it.

    `digest` replaces that of the documents, which are then read only if the index is built, and not enriched.
    """
    parts: list[str] = []
    if digest is None:
        documents = list(documents)
        sentences = [sentence for document in documents for sentence in document.sentences]
        if enrich and not any(sentence.features for sentence in sentences):
            parts += ["features", "entities"]
        if enrich and not any(sentence.parse for sentence in sentences):
            parts.append("parse")
        content = hashlib.sha256(repr((esr.__version__, parts)).encode())
        for document in documents:
            text = [(s.id, s.text, sorted(s.features.items()), s.parse) for s in document.sentences]
            content.update(repr((document.id, text)).encode())
        digest = content.hexdigest()
    digest_file = where.with_name(f"{where.name}.sha256")
    if not digest_file.exists() or digest_file.read_text("utf-8") != digest:
        digest_file.unlink(missing_ok=True)
        # Without titles: in the papers, a document consists of its sentences.
        options = LoadOptions(if_exists="replace", analyzer=ANALYZER, title=False)
        open_writer(str(where), options).load(Located(str(where), d) for d in documents)
        if parts:
            with esr.open(str(where)) as index:
                index.enrich(*parts)  # type: ignore[arg-type]
        digest_file.write_text(digest, "utf-8")
    return where


def open_grid(system: System, start: Ranking, protocol: Protocol) -> Grid:
    """The values to try for each parameter that the ranking leaves open."""
    if system.is_fixed:
        return {}
    grid = build_default_grid(start) if system.grid is None else system.grid
    return {name: protocol.grid.get(name.rpartition(".")[2], values) for name, values in grid.items()}


def open_result_store(year: Year, work: Path, protocol: Protocol, collection: str = "year") -> ResultStore:
    """The results of earlier calls with the same data and protocol.

    `collection` names the documents that are searched, if they are not those of the year.
    """
    documents = hashlib.sha256()
    for document in year.documents:
        texts = [(s.id, s.text, sorted(s.features.items()), s.parse) for s in document.sentences]
        documents.update(repr((document.id, texts)).encode())
    digest = make_digest(
        *(esr.__version__, dataclasses.asdict(protocol), collection, documents.hexdigest()),
        *([(task.topic, task.query, task.relevant) for task in year.tasks], sorted(year.allowed.items())),
        sorted((topic, sorted(grades.items())) for topic, grades in year.qrels.items()),
    )
    return ResultStore(work / year.name / "results.jsonl", digest)


class YearExperiment:
    """Trains and tests systems on the topics of one year. Results in the store are not computed again."""

    def __init__(
        self,
        year: Year,
        topic_indexes: list[TopicIndex],
        protocol: Protocol,
        results: ResultStore | None = None,
    ) -> None:
        self.year = year
        self._topic_indexes = topic_indexes
        self._protocol = protocol
        self._tuners = [Tuner(i.searcher, i.tasks, OBJECTIVE, protocol.depth) for i in topic_indexes]
        self._evaluator = measures.Evaluator(EVALUATED, year.qrels)
        self._figures: dict[str, SystemFigures] = {}
        self._estimates: dict[tuple[str, str], Estimates] = {}
        self._results = results
        self._features = set(BUILTIN_FEATURES).union(
            set.intersection(*(set(index.searcher.index.status(Features())) for index in topic_indexes))
        )
        self._has_parses = any(index.searcher.index.status(HasParses()) for index in topic_indexes)

    def can_run(self, system: System) -> bool:
        """Whether the year has the features and parses that the system needs."""
        has_feature = system.feature is None or system.feature[0] in self._features
        return self.year.name in system.years and has_feature and (self._has_parses or not system.uses_parses)

    def has_feature(self, feature: str) -> bool:
        return feature in self._features

    def read_feature(self, feature: str) -> dict[str, float]:
        """The known values of a feature by sentence, in the documents of the topics."""
        values: dict[str, float] = {}
        for searcher, tasks in self._topic_indexes:
            ids = dict.fromkeys(id for task in tasks for id in self.year.sentences(task.topic))
            values |= read_feature(searcher, list(ids), feature)
        return values

    def train(
        self, systems: Iterable[str] = SYSTEMS, tick: Callable[[str], None] = lambda name: None
    ) -> dict[str, TrainedSystem]:
        """The best setting of every system that can run, in this order. `tick` is called with each name."""
        trained: dict[str, TrainedSystem] = {}
        for system in (SYSTEMS[name] for name in systems):
            if self.can_run(system) and (not system.base or system.base in trained):
                trained[system.name] = self._train_system(system, trained)
            tick(system.name)
        return trained

    def _train_system(self, system: System, trained: Mapping[str, TrainedSystem]) -> TrainedSystem:
        if system.feature is None:
            inherited = {name: trained[other].ranking.params[name] for other, name in system.inherits}
            candidates = self._protocol.candidates(system.ranking.model)
            params = {**system.ranking.params, **inherited}
            return self._tune(system, replace(system.ranking, params=params, candidates=candidates))
        base = trained[system.base].ranking
        feature, form = system.feature
        curve = self.estimate(base, feature).curve(form) if get_form(form).is_trained else None
        adjustment = Adjustment(feature, form, curve=curve)
        return self._tune(system, replace(base, features=(*base.features, adjustment)))

    def _tune(self, system: System, start: Ranking) -> TrainedSystem:
        grid = open_grid(system, start, self._protocol)
        settings = expand_grid(start, grid)
        key = "train", system.name, start.as_dict(), {name: list(values) for name, values in grid.items()}

        def compute() -> dict[str, Any]:
            means = np.hstack([tuner.compute_figures(settings) for tuner in self._tuners]).mean(axis=1)
            best = int(np.argmax(means))
            return {"best": best, "figure": float(means[best])}

        stored = self._find_or_compute(key, compute)
        return TrainedSystem(settings[stored["best"]], stored["figure"], len(settings))

    def estimate(self, base: Ranking, feature: str) -> Estimates:
        """The estimates for a feature over a base, from all topics of the year."""
        key = json.dumps(base.as_dict(), sort_keys=True), feature
        if key not in self._estimates:
            counts = [count_feature_values(i.searcher, i.tasks, base, feature) for i in self._topic_indexes]
            self._estimates[key] = estimate_indep_and_floe(add_counts(counts), EstimationOptions())
        return self._estimates[key]

    def test(self, ranking: Ranking) -> SystemFigures:
        """The figures of a setting on the run that `esr run` would write."""
        key = json.dumps(ranking.as_dict(), sort_keys=True)
        if key not in self._figures:

            def compute() -> dict[str, Any]:
                run = self.run(ranking)
                return {"values": self._evaluator.evaluate(run), "top_length": self._measure_top_length(run)}

            stored = self._find_or_compute(("test", key), compute)
            self._figures[key] = SystemFigures(
                stored["values"], mean_values(stored["values"]), stored["top_length"]
            )
        return self._figures[key]

    def _find_or_compute(self, key: object, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if self._results is None:
            return compute()
        stored: dict[str, Any] = self._results.find_or_compute(key, compute)
        return stored

    def run(self, ranking: Ranking, *, restricted: bool = True) -> Scores:
        """The scores of every topic's sentences, best first.

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
                lines = (line.split() for line in format_lines(task.topic, answer.hits, "esr"))
                run[task.topic] = {words[2]: float(words[4]) for words in lines}
        return run

    def _measure_top_length(self, run: Scores) -> float:
        """The mean length of the top sentences of a topic, averaged over topics with an answer."""
        lengths = self.year.lengths
        tops = [[lengths[s] for s in list(scores)[:TOP] if s in lengths] for scores in run.values()]
        means = [np.mean(top) for top in tops if top]
        return float(np.mean(means)) if means else 0.0


def mean_values(values: measures.Values) -> dict[str, float]:
    """The means over topics by measure."""
    return {name: math.fsum(by_topic.values()) / len(by_topic) for name, by_topic in values.items()}


_BATCH = 500


def read_feature(searcher: Searcher, ids: Sequence[str], feature: str) -> dict[str, float]:
    """The known values of a feature by sentence."""
    column = feature_column(feature)
    values: dict[str, float] = {}
    for start in range(0, len(ids), _BATCH):
        batch = ids[start : start + _BATCH]
        numbers = searcher.index.read(batch, EvidenceOf([], [column])).columns[column].tolist()
        values |= {id: n for id, n in zip(batch, numbers, strict=True) if not math.isnan(n)}
    return values


def add_counts(counts: Sequence[ValueCounts]) -> ValueCounts:
    """The counts of several indexes together."""
    if len(counts) == 1:
        return counts[0]
    values = np.unique(np.concatenate([year_counts.values for year_counts in counts]))
    sums = {name: np.zeros(len(values), np.int64) for name in ("everywhere", "relevant", "top")}
    for year_counts in counts:
        places = np.searchsorted(values, year_counts.values)
        for name, total in sums.items():
            total[places] += getattr(year_counts, name)
    return ValueCounts(values, **sums)
