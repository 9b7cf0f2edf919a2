"""Many topics' candidates as arrays, so that a ranking is measured on all of them by a few operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.errors import UsageError
from esr.learning.topic_signals import RUN_DEPTH, TopicSignals
from esr.plans.evidence import Array

Integers = npt.NDArray[np.int64]


class Measure(NamedTuple):
    """The sum of the relevant sentences' gains, divided by the best possible one.

    `gain` takes, in arrays of one shape, ranks, the number of relevant sentences at each rank or above, and
    grades. `best` takes all grades of a topic in descending order.
    """

    gain: Callable[[Integers, Integers, Integers], Array]
    best: Callable[[Integers], float]


class SignalTable:
    """T topics with up to D candidates and S signals each; shorter topics are padded.

    `first_scores` has the shape (T, D), with -inf as padding; `values` has the shape (T, D, S).
    """

    def __init__(self, topics: Sequence[TopicSignals], measure: str) -> None:
        self.topics = tuple(topics)
        self._measure = measure
        self._gain, best = parse_measure(measure)
        depth = max((len(topic.grades) for topic in topics), default=0)
        size = topics[0].values.shape[1] if topics else 0
        self.first_scores = np.full((len(topics), depth), -np.inf)
        self.values = np.full((len(topics), depth, size), np.nan)
        self.grades = np.zeros((len(topics), depth), np.int64)
        for row, topic in enumerate(topics):
            n = len(topic.grades)
            self.first_scores[row, :n] = topic.first_scores[:n]
            self.values[row, :n] = topic.values
            self.grades[row, :n] = topic.grades
        self._relevant = self.grades > 0
        self._rows, self._columns = np.nonzero(self._relevant)
        self._relevant_grades = self.grades[self._rows, self._columns]
        self._gain_below = np.array([self._compute_gain_below(topic) for topic in topics])
        judged = [np.array(sorted(topic.judgements.values(), reverse=True), np.int64) for topic in topics]
        self._best = np.array([best(grades) if len(grades) else 1.0 for grades in judged])

    def select_topics(self, positions: Sequence[int]) -> SignalTable:
        """Some of the topics."""
        return SignalTable([self.topics[position] for position in positions], self._measure)

    def select_signals(self, signals: Sequence[int]) -> SignalTable:
        """All topics with some of the signals."""
        topics = [replace(topic, values=topic.values[:, list(signals)]) for topic in self.topics]
        return SignalTable(topics, self._measure)

    def compute_figures(self, scores: Array) -> Array:
        """The measure of each topic, (T,), for scores (T, D). Ties keep their order."""
        own = scores[self._rows, self._columns][:, None]
        rows = scores[self._rows]
        is_earlier = np.arange(scores.shape[1]) < self._columns[:, None]
        is_above = (rows > own) | ((rows == own) & is_earlier)
        ranks = is_above.sum(axis=1) + 1
        relevant_so_far = (is_above & self._relevant[self._rows]).sum(axis=1) + 1
        gains = self._gain(ranks, relevant_so_far, self._relevant_grades)
        sums = np.bincount(self._rows, gains, len(self.topics))
        return np.asarray((sums + self._gain_below) / self._best)

    def _compute_gain_below(self, topic: TopicSignals) -> float:
        """The gain of relevant sentences below the candidates, whose ranks are fixed."""
        n, relevant_above = len(topic.grades), int((topic.grades > 0).sum())
        ids = enumerate(topic.ids[:RUN_DEPTH], 1)
        ranks = [rank for rank, id in ids if rank > n and id in topic.judgements]
        grades = np.array([topic.judgements[topic.ids[rank - 1]] for rank in ranks], np.int64)
        relevant_so_far = np.arange(len(ranks)) + relevant_above + 1
        return float(self._gain(np.array(ranks, np.int64), relevant_so_far, grades).sum())


def parse_measure(name: str) -> Measure:
    """AP, nDCG or nDCG@k, as in trec_eval: nDCG's gain is the grade, its discount log2(1 + rank).

    Raises UsageError for another measure.
    """
    if name == "AP":
        return Measure(lambda ranks, relevant, grades: np.asarray(relevant / ranks), len)
    match = re.fullmatch(r"nDCG(?:@([1-9]\d{0,3}))?", name)
    if not match:
        raise UsageError(f"cannot learn for {name!r}: choose AP, nDCG or nDCG@k, such as nDCG@10")
    cutoff = int(match[1]) if match[1] else RUN_DEPTH

    def gain(ranks: Integers, relevant: Integers, grades: Integers) -> Array:
        return np.asarray(np.where(ranks <= cutoff, grades / np.log2(1.0 + ranks), 0.0))

    def best(grades: Integers) -> float:
        ranks = np.arange(1, len(grades) + 1)
        return float(gain(ranks, ranks, grades).sum())

    return Measure(gain, best)
