"""The figure of every setting on every topic: each topic's candidates are gathered once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from esr import boosts
from esr.engines.index import NO_FILTERS, Filters
from esr.evaluation.tuning.objective import DEPTH, measure, ranks
from esr.evaluation.tuning.pool import JudgedPool, gather
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

Table = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Task:
    """A topic to tune on: its query, its relevant sentences, and what it may rank."""

    topic: str
    query: str
    relevant: tuple[str, ...]
    filters: Filters = NO_FILTERS


class Tuner:
    """Figures of settings on topics of one index.

    Pools are kept while they fit into `memory` bytes, so that they need not be gathered again.
    """

    def __init__(
        self,
        searcher: Searcher,
        tasks: Sequence[Task],
        objective: str = "AP",
        depth: int = DEPTH,
        memory: int = 1_000_000_000,
    ) -> None:
        self.tasks = tuple(tasks)
        self._measure = measure(objective)
        self._depth = depth
        self.searcher = searcher
        self._pools = _Pools(searcher, memory)
        self._known: dict[tuple[Task, str], float] = {}

    def part(self, places: Sequence[int]) -> Tuner:
        """A tuner on some of the topics, sharing what was gathered and computed."""
        part = copy(self)
        part.tasks = tuple(self.tasks[place] for place in places)
        return part

    def measuring(self, objective: str) -> Tuner:
        """A tuner of another measure, sharing what was gathered."""
        other = copy(self)
        other._measure = measure(objective)
        other._known = {}
        return other

    def table(self, settings: Sequence[Ranking], tick: Callable[[int], None] = lambda n: None) -> Table:
        """Figures of shape (settings, topics).

        The settings share model, context, candidate rule, features and boosts.
        """
        keys = [json.dumps(setting.as_dict(), sort_keys=True) for setting in settings]
        for task in self.tasks:
            missing = [
                (key, setting)
                for key, setting in zip(keys, settings, strict=True)
                if (task, key) not in self._known
            ]
            gathered, pool = None, None
            for key, setting in missing:
                if gathered != _gathered(setting):
                    gathered, pool = _gathered(setting), self._pools.get(task, setting)
                self._known[task, key] = 0.0 if pool is None else self._figure(pool, setting)
            tick(1)
        return np.array([[self._known[task, key] for task in self.tasks] for key in keys])

    def _figure(self, pool: JudgedPool, setting: Ranking) -> float:
        return self._measure(ranks(pool, pool.scores(setting), self._depth), pool.judged)


def _gathered(ranking: Ranking) -> tuple[Any, ...]:
    """What of a ranking decides what is gathered: no parameters but those of boosts, less their weights.

    If a boost looks at a first search, all that the first stage depends on.
    """
    reranker = ranking.reranker()
    of_second = reranker.columns if reranker else ()
    columns = frozenset([*(each.column for each in ranking.features), *of_second])
    shape = json.dumps([[name, {**given, boosts.WEIGHT: None}] for name, given in ranking.boosts.items()])
    searches = any(boosts.get(name).uses_first_search for name in ranking.boosts)
    first = json.dumps(replace(ranking, boosts={}, rerank=(), trees=None).as_dict()) if searches else None
    return ranking.model, ranking.context, ranking.candidates, columns, shape, first


class _Pools:
    """Gathers pools, and keeps those that there is room for."""

    def __init__(self, searcher: Searcher, room: int) -> None:
        self._searcher = searcher
        self._room = room
        self._kept: dict[tuple[Any, ...], JudgedPool | None] = {}

    def get(self, task: Task, ranking: Ranking) -> JudgedPool | None:
        key = task, _gathered(ranking)
        if key not in self._kept:
            pool = gather(self._searcher, task.query, ranking, task.filters, task.relevant)
            size = 0 if pool is None else pool.evidence.nbytes
            if size > self._room:
                return pool
            self._room -= size
            self._kept[key] = pool
        return self._kept[key]
