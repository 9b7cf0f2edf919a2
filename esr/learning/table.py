"""Many topics' candidates as arrays, so that the figure of a ranking on all of them is a few operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.errors import UsageError
from esr.learning.gather import RUN, TopicSignals
from esr.plans.evidence import Array

Ranks = npt.NDArray[np.int64]


class Measure(NamedTuple):
    """The sum of relevant sentences' gains over the best that could be.

    `gain` is of ranks, of how many relevant ones stand so high or higher, and of grades, all of one shape;
    `best` of all grades of a topic, the highest first.
    """

    gain: Callable[[Ranks, Ranks, Ranks], Array]
    best: Callable[[Ranks], float]


class Table:
    """T topics of up to D candidates with S signals each; what a topic has fewer is filled up.

    `first` has the shape (T, D), -inf where there is no candidate; `values` (T, D, S).
    """

    def __init__(self, topics: Sequence[TopicSignals], measure: str) -> None:
        self.topics = tuple(topics)
        self._measure = measure
        self._gain, best = measure_of(measure)
        depth = max((len(each.grades) for each in topics), default=0)
        size = topics[0].values.shape[1] if topics else 0
        self.first = np.full((len(topics), depth), -np.inf)
        self.values = np.full((len(topics), depth, size), np.nan)
        self.grades = np.zeros((len(topics), depth), np.int64)
        for row, each in enumerate(topics):
            n = len(each.grades)
            self.first[row, :n], self.values[row, :n], self.grades[row, :n] = (
                each.first[:n],
                each.values,
                each.grades,
            )
        self._relevant = self.grades > 0
        self._row, self._place = np.nonzero(self._relevant)
        self._grades = self.grades[self._row, self._place]
        self._below = np.array([self._gain_below(each) for each in topics])
        judged = [np.array(sorted(each.grades_of.values(), reverse=True), np.int64) for each in topics]
        self._best = np.array([best(each) if len(each) else 1.0 for each in judged])

    def part(self, places: Sequence[int]) -> Table:
        """Some of the topics."""
        return Table([self.topics[place] for place in places], self._measure)

    def only(self, signals: Sequence[int]) -> Table:
        """All topics with some of the signals."""
        fewer = [replace(each, values=each.values[:, list(signals)]) for each in self.topics]
        return Table(fewer, self._measure)

    def figures(self, scores: Array) -> Array:
        """The measure of each topic, of shape (T,), for scores of shape (T, D). Of equals the first wins."""
        own = scores[self._row, self._place][:, None]
        rows = scores[self._row]
        earlier = np.arange(scores.shape[1]) < self._place[:, None]
        above = (rows > own) | ((rows == own) & earlier)
        ranks = above.sum(axis=1) + 1
        found = (above & self._relevant[self._row]).sum(axis=1) + 1
        gains = np.bincount(self._row, self._gain(ranks, found, self._grades), len(self.topics))
        return np.asarray((gains + self._below) / self._best)

    def _gain_below(self, topic: TopicSignals) -> float:
        """Of relevant sentences below the candidates: they stay there."""
        n, inside = len(topic.grades), int((topic.grades > 0).sum())
        ranks = [rank for rank, id in enumerate(topic.ids[:RUN], 1) if rank > n and id in topic.grades_of]
        grades = np.array([topic.grades_of[topic.ids[rank - 1]] for rank in ranks], np.int64)
        found = np.arange(len(ranks)) + inside + 1
        return float(self._gain(np.array(ranks, np.int64), found, grades).sum())


def measure_of(name: str) -> Measure:
    """AP, nDCG or nDCG@k, as trec_eval has them: nDCG's gain is the grade, its discount log2(1 + rank).

    Raises UsageError for another.
    """
    if name == "AP":
        return Measure(lambda ranks, found, grades: np.asarray(found / ranks), len)
    wanted = re.fullmatch(r"nDCG(?:@([1-9]\d{0,3}))?", name)
    if not wanted:
        raise UsageError(f"cannot learn for {name!r}: choose AP, nDCG or nDCG@k, as nDCG@10")
    cut = int(wanted[1]) if wanted[1] else RUN

    def gain(ranks: Ranks, found: Ranks, grades: Ranks) -> Array:
        return np.asarray(np.where(ranks <= cut, grades / np.log2(1.0 + ranks), 0.0))

    def best(grades: Ranks) -> float:
        ranks = np.arange(1, len(grades) + 1)
        return float(gain(ranks, ranks, grades).sum())

    return Measure(gain, best)
