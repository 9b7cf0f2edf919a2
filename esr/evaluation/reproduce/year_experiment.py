"""Training and testing of every system on one year."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from esr.engines.index import NO_FILTERS
from esr.errors import EsrError
from esr.evaluation import measures, runs
from esr.evaluation.reproduce.indexes import TopicIndex
from esr.evaluation.reproduce.protocol import MEASURES, OBJECTIVE, TOP, Protocol
from esr.evaluation.reproduce.systems import SYSTEMS, System
from esr.evaluation.reproduce.year import Year
from esr.evaluation.runs import Scores
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning.tuner import Tuner
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import UnsearchableQuery


@dataclass(frozen=True)
class TrainedSystem:
    """A system's best setting on a year, its figure there, and the number of settings tried."""

    ranking: Ranking
    figure: float
    tried: int


@dataclass(frozen=True)
class SystemFigures:
    """A setting's figures on a year: by measure and topic, their means, and the length of its top."""

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
        """The best setting of every system, in the order of systems."""
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
        default_grid = {} if system.is_fixed else grids.default(start)
        grid = {name: self._protocol.grid.get(name, values) for name, values in default_grid.items()}
        settings = grids.expand(start, grid)
        means = np.hstack([tuner.compute_figures(settings) for tuner in self._tuners]).mean(axis=1)
        best = int(np.argmax(means))
        return TrainedSystem(settings[best], float(means[best]), len(settings))

    def test(self, ranking: Ranking) -> SystemFigures:
        """A setting's figures, those of the run that `esr run` would write."""
        key = json.dumps(ranking.as_dict(), sort_keys=True)
        if key not in self._figures:
            run = self.run(ranking)
            values = measures.evaluate(MEASURES, self.year.qrels, run)
            means = {name: measures.mean(name, by_topic.values()) for name, by_topic in values.items()}
            self._figures[key] = SystemFigures(values, means, self._measure_top_length(run))
        return self._figures[key]

    def run(self, ranking: Ranking, *, restricted: bool = True) -> Scores:
        """The scores of every topic's sentences."""
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
                except UnsearchableQuery:  # only stop words: an empty answer
                    continue
                if answer.incomplete:
                    raise EsrError(f"topic {task.topic}: the answer is incomplete: {answer.incomplete}")
                lines = (line.split() for line in runs.format_lines(task.topic, answer.hits, "esr"))
                run[task.topic] = {words[2]: float(words[4]) for words in lines}
        return run

    def _measure_top_length(self, run: Scores) -> float:
        """The mean length of the best sentences, over the topics that have any."""
        lengths = self.year.lengths
        means = [np.mean([lengths[s] for s in list(scores)[:TOP]]) for scores in run.values() if scores]
        return float(np.mean(means)) if means else 0.0
