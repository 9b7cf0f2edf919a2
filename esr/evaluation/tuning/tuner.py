"""Figures of settings on topics. Each topic's candidates are retrieved once for all settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr import boosts
from esr.engines.index import NO_FILTERS, Filters
from esr.evaluation.tuning.judged_candidates import JudgedCandidates, retrieve_candidates
from esr.evaluation.tuning.objective import DEPTH, parse_objective, rank_relevant
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

Figures = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Task:
    """A topic to tune on: its query, its relevant sentences, and the filters of its candidates."""

    topic: str
    query: str
    relevant: tuple[str, ...]
    filters: Filters = NO_FILTERS


class Tuner:
    """Computes figures of settings on topics of one index.

    Candidates are cached while they fit into `memory` bytes.
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
        self._measure = parse_objective(objective)
        self._depth = depth
        self.searcher = searcher
        self._candidates = _CandidateCache(searcher, memory)
        self._figures: dict[tuple[Task, str], float] = {}

    def select_tasks(self, positions: Sequence[int]) -> Tuner:
        """A tuner on some of the tasks, which shares candidates and figures with this one."""
        selection = copy(self)
        selection.tasks = tuple(self.tasks[position] for position in positions)
        return selection

    def with_objective(self, objective: str) -> Tuner:
        """A tuner for another measure, which shares candidates with this one."""
        other = copy(self)
        other._measure = parse_objective(objective)
        other._figures = {}
        return other

    def compute_figures(
        self, settings: Sequence[Ranking], tick: Callable[[int], None] = lambda n: None
    ) -> Figures:
        """Figures of shape (settings, topics).

        The settings share model, context, candidate rule, features and boosts.
        """
        keys = [json.dumps(setting.as_dict(), sort_keys=True) for setting in settings]
        for task in self.tasks:
            missing = [
                (key, setting)
                for key, setting in zip(keys, settings, strict=True)
                if (task, key) not in self._figures
            ]
            candidates_key, candidates = None, None
            for key, setting in missing:
                if candidates_key != _candidates_key(setting):
                    candidates_key = _candidates_key(setting)
                    candidates = self._candidates.get(task, setting)
                self._figures[task, key] = (
                    0.0 if candidates is None else self._measure_on(candidates, setting)
                )
            tick(1)
        return np.array([[self._figures[task, key] for task in self.tasks] for key in keys])

    def _measure_on(self, candidates: JudgedCandidates, setting: Ranking) -> float:
        ranks = rank_relevant(candidates, candidates.scores(setting), self._depth)
        return self._measure(ranks, candidates.judged)


def _candidates_key(ranking: Ranking) -> tuple[Any, ...]:
    """The part of a ranking that determines the candidates: parameters of boosts only, without weights.

    If a boost needs a first search, also everything that the first stage depends on. If the second stage uses
    vectors, also its depth.
    """
    reranker = ranking.reranker()
    reranker_columns = reranker.columns if reranker else ()
    columns = frozenset([*(feature.column for feature in ranking.features), *reranker_columns])
    shape = json.dumps([[name, {**given, boosts.WEIGHT: None}] for name, given in ranking.boosts.items()])
    searches = any(boosts.get(name).uses_first_search for name in ranking.boosts)
    first = json.dumps(replace(ranking, boosts={}, rerank=(), trees=None).as_dict()) if searches else None
    nearest = reranker.depth if reranker and reranker.uses_vectors else 0
    return ranking.model, ranking.context, ranking.candidates, columns, shape, first, nearest


class _CandidateCache:
    """Retrieves candidates, and caches them up to a number of bytes."""

    def __init__(self, searcher: Searcher, free_bytes: int) -> None:
        self._searcher = searcher
        self._free_bytes = free_bytes
        self._cache: dict[tuple[Any, ...], JudgedCandidates | None] = {}

    def get(self, task: Task, ranking: Ranking) -> JudgedCandidates | None:
        key = task, _candidates_key(ranking)
        if key not in self._cache:
            candidates = retrieve_candidates(self._searcher, task.query, ranking, task.filters, task.relevant)
            size = 0 if candidates is None else candidates.evidence.nbytes
            if size > self._free_bytes:
                return candidates
            self._free_bytes -= size
            self._cache[key] = candidates
        return self._cache[key]
