"""Training on one year and testing on others, for every system."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from esr.engines.index import NO_FILTERS
from esr.errors import EsrError, UsageError
from esr.evaluation import measures, runs
from esr.evaluation.reproduce.indexes import Part
from esr.evaluation.reproduce.protocol import MEASURES, OBJECTIVE, TOP, Protocol
from esr.evaluation.reproduce.systems import SYSTEMS, System
from esr.evaluation.reproduce.year import Year
from esr.evaluation.runs import Scores
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning.figures import Tuner
from esr.ranking.ranking import Ranking


@dataclass(frozen=True)
class Trained:
    """A system's best setting on a year, its figure there, and how many settings were tried."""

    ranking: Ranking
    figure: float
    tried: int


@dataclass(frozen=True)
class Tested:
    """A setting's figures on a year: by measure and topic, their means, and the length of its best."""

    values: measures.Values
    means: Mapping[str, float]
    top_length: float


class Laboratory:
    """One year, ready to train and to test on."""

    def __init__(self, year: Year, parts: list[Part], protocol: Protocol) -> None:
        self.year = year
        self._parts = parts
        self._protocol = protocol
        self._tuners = [Tuner(p.searcher, p.tasks, OBJECTIVE, protocol.depth) for p in parts]
        self._tested: dict[str, Tested] = {}

    def train(self, tick: Callable[[str], None] = lambda name: None) -> dict[str, Trained]:
        """Every system's best setting, in the order of the systems."""
        found: dict[str, Trained] = {}
        for system in SYSTEMS.values():
            found[system.name] = self._best(system, found)
            tick(system.name)
        return found

    def _best(self, system: System, before: Mapping[str, Trained]) -> Trained:
        taken = {name: before[other].ranking.params[name] for other, name in system.takes}
        start = replace(
            system.ranking,
            params={**system.ranking.params, **taken},
            candidates=self._protocol.candidates(system.ranking.model),
        )
        usual = {} if system.fixed else grids.default(start)
        grid = {name: self._protocol.grid.get(name, values) for name, values in usual.items()}
        every = grids.settings(start, grid)
        table = np.hstack([tuner.table(every) for tuner in self._tuners]).mean(axis=1)
        best = int(np.argmax(table))
        return Trained(every[best], float(table[best]), len(every))

    def test(self, ranking: Ranking) -> Tested:
        """A setting's figures: those of the run that `esr run` writes for it."""
        key = json.dumps(ranking.as_dict(), sort_keys=True)
        if key not in self._tested:
            run = self.run(ranking)
            values = measures.evaluate(MEASURES, self.year.qrels, run)
            means = {name: measures.mean(name, found.values()) for name, found in values.items()}
            self._tested[key] = Tested(values, means, self._length(run))
        return self._tested[key]

    def run(self, ranking: Ranking, *, restricted: bool = True) -> Scores:
        """The scores of every topic's sentences."""
        found: Scores = {}
        for searcher, tasks in self._parts:
            for task in tasks:
                filters = task.filters if restricted else NO_FILTERS
                try:
                    answer = searcher.search(
                        task.query, self._protocol.depth, ranking=ranking, filters=filters, records=False
                    )
                except UsageError:  # stop words only: an empty answer
                    continue
                if answer.incomplete:
                    raise EsrError(f"topic {task.topic}: the answer is incomplete: {answer.incomplete}")
                lines = (line.split() for line in runs.lines(task.topic, answer.hits, "esr"))
                found[task.topic] = {words[2]: float(words[4]) for words in lines}
        return found

    def _length(self, run: Scores) -> float:
        """The average length of the best sentences, over the topics that have any."""
        lengths = self.year.lengths
        means = [np.mean([lengths[s] for s in list(scores)[:TOP]]) for scores in run.values() if scores]
        return float(np.mean(means)) if means else 0.0
