"""What learning is worth on topics that were not learned from, and what each signal adds to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from esr.errors import UsageError
from esr.evaluation.runs import Scores
from esr.evaluation.significance import Comparison, compare, corrected
from esr.evaluation.tuning.folds import folds
from esr.learning.learner import Learner
from esr.learning.table import Table
from esr.plans.evidence import Array
from esr.ranking.ranking_signal import RankingSignal
from esr.ranking.reranker import merge_scores

Tick = Callable[[int], None]


class Ablated(NamedTuple):
    """What is lost without some signals: the full set's figures compared with those without them."""

    without: str
    figure: float
    comparison: Comparison


def cross_validated(
    table: Table,
    signals: Sequence[RankingSignal],
    learner: Learner,
    parts: Sequence[Sequence[int]],
    seed: int,
    tick: Tick = lambda n: None,
) -> Array:
    """Scores of all candidates, (T, D), each topic's by what was learned from the other folds."""
    scores = table.first.copy()
    for part in parts:
        rest = sorted(set(range(len(table.topics))) - set(part))
        learned = learner(table.part(rest), signals, seed)
        scores[list(part)] = learned.scores(table.part(part))
        tick(1)
    return scores


def ablation(
    table: Table,
    signals: Sequence[RankingSignal],
    learner: Learner,
    parts: Sequence[Sequence[int]],
    seed: int,
    leave_out: Mapping[str, Sequence[str]],
    full: Array,
    tick: Tick = lambda n: None,
) -> list[Ablated]:
    """For each name, cross-validation without its signals, against `full`, the scores with all of them.

    P-values are corrected over all that are left out.
    """
    figures = by_topic(table, full)
    names, means, comparisons = [], [], []
    for name, without in leave_out.items():
        kept = [at for at, each in enumerate(signals) if each.signal not in without]
        if not kept:
            continue
        fewer = table.only(kept)
        scores = cross_validated(fewer, [signals[at] for at in kept], learner, parts, seed, tick)
        names.append(name)
        means.append(float(table.figures(scores).mean()))
        comparisons.append(compare(figures, by_topic(table, scores)))
    return [Ablated(*each) for each in zip(names, means, corrected(comparisons), strict=True)]


def by_topic(table: Table, scores: Array) -> dict[str, float]:
    """The measure's figures of scores (T, D)."""
    figures = table.figures(scores).tolist()
    return {each.topic: figure for each, figure in zip(table.topics, figures, strict=True)}


def split(table: Table, number: int, groups: Mapping[str, str], seed: int) -> list[list[int]]:
    """Places of the topics in folds; topics of a group together."""
    parts = folds(table.topics, number, groups, seed)
    if not all(table.grades[sorted(set(range(len(table.topics))) - set(part))].any() for part in parts):
        raise UsageError("a fold leaves no topic whose relevant sentence is found: take fewer folds")
    return parts


def run(table: Table, scores: Array) -> Scores:
    """The run of scores (T, D): candidates in their new order, what lies below them in its own."""
    found = {}
    for row, each in enumerate(table.topics):
        top = np.arange(len(each.grades))
        values = merge_scores(each.first, top, scores[row, : len(top)])
        found[each.topic] = dict(zip(each.ids, values.tolist(), strict=True))
    return found
