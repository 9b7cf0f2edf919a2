"""The gain of learning on held-out topics, and the contribution of each signal to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from esr.errors import UsageError
from esr.evaluation.runs import Scores
from esr.evaluation.significance import SystemComparison, compare_systems, correct_p_values
from esr.evaluation.tuning.folds import split_folds
from esr.learning.learner import Learner
from esr.learning.signal_table import SignalTable
from esr.plans.evidence import Array
from esr.ranking.ranking_signal import RankingSignal
from esr.ranking.reranker import merge_scores

Tick = Callable[[int], None]


class Ablation(NamedTuple):
    """The loss without some signals: the figures of all signals compared with those without these."""

    without: str
    figure: float
    comparison: SystemComparison


class Validation(NamedTuple):
    """How to cross-validate: the learner, the folds as positions of topics, and the seed."""

    learner: Learner
    folds: Sequence[Sequence[int]]
    seed: int

    def cross_validate(
        self, table: SignalTable, signals: Sequence[RankingSignal], tick: Tick = lambda n: None
    ) -> Array:
        """Scores of all candidates, (T, D), learned for each topic from the folds without it."""
        scores = table.first_scores.copy()
        for fold in self.folds:
            others = sorted(set(range(len(table.topics))) - set(fold))
            model = self.learner(table.select_topics(others), signals, self.seed)
            of_fold = model.scores(table.select_topics(fold))  # as wide as its longest topic
            scores[list(fold), : of_fold.shape[1]] = of_fold
            tick(1)
        return scores

    def ablate(
        self,
        table: SignalTable,
        signals: Sequence[RankingSignal],
        signal_groups: Mapping[str, Sequence[str]],
        full_scores: Array,
        tick: Tick = lambda n: None,
    ) -> list[Ablation]:
        """For each group of signals, cross-validation without it, compared with the scores of all signals.

        P-values are corrected for the number of groups.
        """
        full_figures = figures_by_topic(table, full_scores)
        names, means, comparisons = [], [], []
        for name, without in signal_groups.items():
            rest = [n for n, signal in enumerate(signals) if signal.signal not in without]
            if not rest:
                continue
            reduced = table.select_signals(rest)
            scores = self.cross_validate(reduced, [signals[n] for n in rest], tick)
            names.append(name)
            means.append(float(table.compute_figures(scores).mean()))
            comparisons.append(compare_systems(full_figures, figures_by_topic(table, scores)))
        return [Ablation(*row) for row in zip(names, means, correct_p_values(comparisons), strict=True)]


def figures_by_topic(table: SignalTable, scores: Array) -> dict[str, float]:
    """The measure of each topic for scores (T, D)."""
    figures = table.compute_figures(scores).tolist()
    return {topic.topic: figure for topic, figure in zip(table.topics, figures, strict=True)}


def split_topics(table: SignalTable, number: int, groups: Mapping[str, str], seed: int) -> list[list[int]]:
    """Positions of the topics in folds; topics of a group are in the same fold."""
    folds = split_folds(table.topics, number, groups, seed)
    for fold in folds:
        others = sorted(set(range(len(table.topics))) - set(fold))
        if not table.grades[others].any():
            raise UsageError("outside of one fold no topic has a relevant candidate: use fewer folds")
    return folds


def build_run(table: SignalTable, scores: Array) -> Scores:
    """The run for scores (T, D): reranked candidates, then the sentences below them in their own order."""
    run = {}
    for row, topic in enumerate(table.topics):
        top = np.arange(len(topic.grades))
        values = merge_scores(topic.first_scores, top, scores[row, : len(top)])
        run[topic.topic] = dict(zip(topic.ids, values.tolist(), strict=True))
    return run
