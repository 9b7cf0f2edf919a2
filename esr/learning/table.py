"""Many topics' candidates as arrays, so that the figure of a ranking on all of them is a few operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from esr.errors import UsageError
from esr.learning.gather import RUN, TopicSignals
from esr.plans.evidence import Array

Ranks = npt.NDArray[np.int64]


class Table:
    """T topics of up to D candidates with S signals each; what a topic has fewer is filled up.

    `first` has the shape (T, D), -inf where there is no candidate; `values` (T, D, S).
    """

    def __init__(self, topics: Sequence[TopicSignals], measure: str) -> None:
        self.topics = tuple(topics)
        self._measure = measure
        self._figures = measure_of(measure)
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
        self._below = [_below(each) for each in topics]
        self._judged = [np.array(sorted(each.grades_of.values(), reverse=True)) for each in topics]

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
        return self._figures(self, ranks, found)


def _below(topic: TopicSignals) -> tuple[Ranks, Ranks]:
    """The ranks and grades of relevant sentences below the candidates: they stay there."""
    n = len(topic.grades)
    at = [
        (place + 1, topic.grades_of[id]) for place, id in enumerate(topic.ids[:RUN]) if id in topic.grades_of
    ]
    return (
        np.array([rank for rank, _ in at if rank > n], np.int64),
        np.array([grade for rank, grade in at if rank > n], np.int64),
    )


def _average_precision(table: Table, ranks: Ranks, found: Ranks) -> Array:
    total = np.bincount(table._row, found / ranks, len(table.topics))
    inside = np.bincount(table._row, minlength=len(table.topics))
    for row, (below, _) in enumerate(table._below):
        total[row] += ((inside[row] + 1 + np.arange(len(below))) / below).sum()
    return np.asarray(total / np.array([max(len(judged), 1) for judged in table._judged]))


def _ndcg(cut: int) -> Callable[[Table, Ranks, Ranks], Array]:
    """nDCG as trec_eval has it: the gain is the grade, the discount log2(1 + rank)."""

    def dcg(gains: Ranks, ranks: Ranks) -> Array:
        return np.asarray(np.where(ranks <= cut, gains / np.log2(1.0 + ranks), 0.0))

    def figures(table: Table, ranks: Ranks, found: Ranks) -> Array:
        gains = dcg(table.grades[table._row, table._place], ranks)
        total = np.bincount(table._row, gains, len(table.topics))
        for row, (below, grades) in enumerate(table._below):
            total[row] += dcg(grades, below).sum()
        best = np.array([dcg(judged, np.arange(1, len(judged) + 1)).sum() for judged in table._judged])
        return np.asarray(total / np.where(best > 0, best, 1.0))

    return figures


def measure_of(name: str) -> Callable[[Table, Ranks, Ranks], Array]:
    """AP, nDCG or nDCG@k, from ranks and how many relevant ones stand so high. UsageError for another."""
    if name == "AP":
        return _average_precision
    cut = re.fullmatch(r"nDCG(?:@([1-9]\d{0,3}))?", name)
    if not cut:
        raise UsageError(f"cannot learn for {name!r}: choose AP, nDCG or nDCG@k, as nDCG@10")
    return _ndcg(int(cut[1]) if cut[1] else RUN)
