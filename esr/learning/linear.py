"""A linear ranking: the first stage plus weighted signals, by coordinate ascent on the measure itself.

Metzler & Croft 2007 (Information Retrieval 10, 257-274). All weights start from 0, which is the first stage.
One weight after another, in a random order, takes the step that helps most, until none helps for sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from esr.learning.signals import adjustment, is_feature, is_prior
from esr.learning.table import Table
from esr.plans.evaluate import score_static
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal

STEPS = (0.05, 0.1, 0.2, 0.4)
"""What a weight may go up or down by, in spreads of the first stage's score per spread of the signal."""
CERTAIN = 2.0
"""A step is taken if its gain is more than so many standard errors over topics: less would follow noise."""
RESTARTS = 3


@dataclass(frozen=True)
class Linear:
    """Weights (S,) of the signals beside a first stage of weight 1, and what each is worth (S,).

    The worth is the size of the weight times the spread of the signal within a topic.
    """

    signals: tuple[RankingSignal, ...]
    weights: Array
    importance: Array

    def scores(self, table: Table) -> Array:
        """Scores of a table's candidates, of its shape (T, D)."""
        return table.first + _formed(self.signals, table) @ self.weights

    def ranking(self, base: Ranking, depth: int) -> Ranking:
        """The ranking to save: features and priors in the first stage, the others in the second."""
        features, more, in_second = list(base.features), dict(base.priors), []
        for signal, weight in zip(self.signals, self.weights.tolist(), strict=True):
            if weight == 0.0:
                continue
            if is_feature(signal):
                features.append(adjustment(signal, weight))
            elif is_prior(signal):
                name = prior_name(signal)
                more[name] = more.get(name, 0.0) + weight
            else:
                in_second.append(replace(signal, params={**signal.params, "w": weight}))
        return replace(base, features=tuple(features), priors=more, rerank=tuple(in_second), depth=depth)


def fit(table: Table, signals: Sequence[RankingSignal], seed: int = 0) -> Linear:
    """The best weights that were found on the table's topics. The same call finds the same ones."""
    formed = _formed(signals, table)
    spread = _spread(formed, table)
    of_first = float(_spread(table.first[..., None], table)[0])
    unit = np.divide(of_first, spread, out=np.zeros(len(spread)), where=spread > 0)
    chance = np.random.default_rng(seed)
    ends = [_ascent(table, formed, unit, chance) for _ in range(RESTARTS)]
    best = max(ends, key=lambda end: float(end.figures.mean())).weights
    return Linear(tuple(signals), best, np.abs(best) * spread)


class _End(NamedTuple):
    """Weights (S,) and the figures of the topics with them (T,)."""

    weights: Array
    figures: Array


def _ascent(table: Table, formed: Array, unit: Array, chance: np.random.Generator) -> _End:
    """From the first stage, through the signals in a random order, until no step is sure to help."""
    weights, movable = np.zeros(len(unit)), np.flatnonzero(unit > 0)
    now = _End(weights, table.figures(table.first))
    improved = True
    while improved:
        improved = False
        for at in chance.permutation(movable).tolist():
            better = _step(table, formed, unit, now, at)
            if better is not None:
                now, improved = better, True
    return now


def _step(table: Table, formed: Array, unit: Array, now: _End, at: int) -> _End | None:
    """The best step of one weight, or None if none helps for sure. Leaving a signal out need not help."""
    scores = table.first + formed @ now.weights
    if now.weights[at]:
        without = _moved(table, formed, scores, now, at, -float(now.weights[at]))
        if without.figures.mean() >= now.figures.mean():
            return without
    steps = [sign * step * unit[at] for step in STEPS for sign in (1.0, -1.0)]
    ends = [_moved(table, formed, scores, now, at, step) for step in steps]
    best = max(ends, key=lambda end: float(end.figures.mean()))
    gains = best.figures - now.figures
    error = float(gains.std()) / np.sqrt(len(gains))
    return best if gains.mean() > CERTAIN * error else None


def _moved(table: Table, formed: Array, scores: Array, now: _End, at: int, step: float) -> _End:
    weights = now.weights.copy()
    weights[at] += step
    if abs(weights[at]) < 1e-12:  # what went up and down again
        weights[at] = 0.0
    return _End(weights, table.figures(scores + step * formed[..., at]))


def _formed(signals: Sequence[RankingSignal], table: Table) -> Array:
    """Signals as the ranking adds them at weight 1, (T, D, S): features in their forms, 0 for no value."""
    formed: Array = np.nan_to_num(table.values, nan=0.0)
    for at, signal in enumerate(signals):
        if is_feature(signal):
            static = adjustment(signal).static()
            formed[..., at] = score_static(static, table.values[..., at])
    return formed


def _spread(values: Array, table: Table) -> Array:
    """How much each of the signals (T, D, S) differs within a topic: the root of the mean variance, (S,)."""
    there = np.isfinite(table.first)
    variances = [values[row, there[row]].var(axis=0) for row in range(len(values)) if there[row].any()]
    return np.asarray(np.sqrt(np.mean(variances, axis=0)))


def prior_name(signal: RankingSignal) -> str:
    return signal.signal.partition(" ")[2]
