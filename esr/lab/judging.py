"""What is left to judges, and how far they agree: pools of runs, and kappa of two sets of judgements.

A pool has the best sentences of several runs, each once. Their order tells neither the run nor the rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.batch.runs import Scores, sort_sentences
from esr.errors import UsageError
from esr.hashing import hash64
from esr.lab.measures import Qrels

Pool = dict[str, list[str]]
"""Sentences by topic."""


def make_pool(runs: Sequence[Scores], depth: int, judged: Mapping[str, Mapping[str, int]] = {}) -> Pool:
    """The first `depth` sentences of each run, topic by topic, without those that are judged already.

    Within a topic they are in the order of a hash, which is the same for the same sentences.
    """
    pool: Pool = {}
    for topic in dict.fromkeys(topic for run in runs for topic in run):
        best = {sentence for run in runs for sentence in sort_sentences(run.get(topic, {}))[:depth]}
        left = best - judged.get(topic, {}).keys()
        if left:
            pool[topic] = sorted(left, key=lambda sentence: (hash64(f"{topic}\n{sentence}"), sentence))
    return pool


def condense(run: Scores, qrels: Mapping[str, Mapping[str, int]]) -> Scores:
    """The run without the sentences that nobody judged. A judged topic keeps its place without any left."""
    return {
        topic: {sentence: score for sentence, score in scores.items() if sentence in qrels.get(topic, {})}
        for topic, scores in run.items()
    }


class Agreement(NamedTuple):
    """How far two judges agree on the sentences that both judged; kappas are NaN where all grades are one.

    `counts[a, b]`: the sentences with grade `grades[a]` by the first and `grades[b]` by the second judge.
    `kappa`: of relevant or not; `weighted`: of the grades, where the distance of two counts.
    """

    grades: Sequence[int]
    counts: npt.NDArray[np.int64]
    kappa: float
    weighted: float

    @property
    def sentences(self) -> int:
        return int(self.counts.sum())

    @property
    def agreed(self) -> float:
        """The share of the sentences that both call relevant, or both not."""
        return float(np.trace(_binary(self)) / self.sentences)


def measure_agreement(a: Qrels, b: Qrels) -> Agreement:
    """The agreement of two judges. Raises UsageError if they share no sentence of a topic."""
    pairs = list(_pair_grades(a, b))
    if not pairs:
        raise UsageError("the two have no sentence in common: both must judge the same topics and sentences")
    grades, places = np.unique(np.array(pairs), return_inverse=True)
    counts = np.zeros((len(grades), len(grades)), np.int64)
    np.add.at(counts, tuple(places.reshape(-1, 2).T), 1)
    agreement = Agreement(grades.tolist(), counts, np.nan, np.nan)
    distances = np.abs(grades[:, None] - grades[None, :])
    return agreement._replace(
        kappa=kappa(_binary(agreement), 1 - np.eye(2)), weighted=kappa(counts, distances)
    )


def kappa(counts: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """Cohen's weighted kappa (docs/formulas.md, I); NaN if chance leaves no disagreement to expect."""
    observed, weights = np.asarray(counts, float), np.asarray(weights, float)
    total = observed.sum()
    expected = np.outer(observed.sum(1), observed.sum(0)) / total
    chance = float((weights * expected).sum())
    return 1 - float((weights * observed).sum()) / chance if chance else float("nan")


def _binary(agreement: Agreement) -> npt.NDArray[np.int64]:
    """Counts of not relevant and relevant by either judge."""
    sides = np.array(agreement.grades) > 0
    member = np.stack([~sides, sides]).astype(np.int64)
    return member @ agreement.counts @ member.T


def _pair_grades(a: Qrels, b: Qrels) -> Iterator[tuple[int, int]]:
    for topic, grades in a.items():
        theirs = b.get(topic, {})
        yield from ((grade, theirs[sentence]) for sentence, grade in grades.items() if sentence in theirs)
