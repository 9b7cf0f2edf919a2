"""A linear ranking: the first stage plus weighted signals, by coordinate ascent on the measure itself.

Metzler & Croft 2007 (Information Retrieval 10, 257-274). All weights start at 0, which is the first stage.
One weight after another, in random order, takes the step with the largest gain, until no gain is significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from esr.learning.signal_table import SignalTable
from esr.learning.signals import is_feature, is_prior, to_adjustment
from esr.plans.evaluate import score_static
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal

STEPS = (0.05, 0.1, 0.2, 0.4)
"""Steps of a weight, in spreads of the first stage's score per spread of the signal."""
MIN_STANDARD_ERRORS = 2.0
"""The gain of a step must exceed this number of standard errors over topics, to avoid fitting noise."""
RESTARTS = 3


@dataclass(frozen=True)
class Linear:
    """Weights (S,) of the signals beside a first stage with weight 1, and their importance (S,).

    The importance is the size of the weight times the spread of the signal within a topic.
    """

    signals: tuple[RankingSignal, ...]
    weights: Array
    importance: Array

    def scores(self, table: SignalTable) -> Array:
        """Scores of a table's candidates, (T, D)."""
        return table.first_scores + _transform(self.signals, table) @ self.weights

    def ranking(self, base: Ranking, depth: int) -> Ranking:
        """The ranking to save: features and priors in the first stage, other signals in the second."""
        features, priors, rerank = list(base.features), dict(base.priors), []
        for signal, weight in zip(self.signals, self.weights.tolist(), strict=True):
            if weight == 0.0:
                continue
            if is_feature(signal):
                features.append(to_adjustment(signal, weight))
            elif is_prior(signal):
                name = prior_name(signal)
                priors[name] = priors.get(name, 0.0) + weight
            else:
                rerank.append(replace(signal, params={**signal.params, "w": weight}))
        return replace(base, features=tuple(features), priors=priors, rerank=tuple(rerank), depth=depth)


def fit(table: SignalTable, signals: Sequence[RankingSignal], seed: int = 0) -> Linear:
    """The best weights on the table's topics, deterministic for a seed."""
    values = _transform(signals, table)
    spread = _compute_spread(values, table)
    first_spread = float(_compute_spread(table.first_scores[..., None], table)[0])
    units = np.divide(first_spread, spread, out=np.zeros(len(spread)), where=spread > 0)
    ascent = _Ascent(table, values, units, np.random.default_rng(seed))
    points = [ascent.run() for _ in range(RESTARTS)]
    best = max(points, key=lambda point: float(point.figures.mean())).weights
    return Linear(tuple(signals), best, np.abs(best) * spread)


class _Point(NamedTuple):
    """Weights (S,) and the figures of the topics under them (T,)."""

    weights: Array
    figures: Array


class _Ascent(NamedTuple):
    """Coordinate ascent over signals with these values (T, D, S) and units of steps (S,)."""

    table: SignalTable
    values: Array
    units: Array
    generator: np.random.Generator

    def run(self) -> _Point:
        """From the first stage, through the signals in random order, until no step has a significant gain."""
        movable = np.flatnonzero(self.units > 0)
        figures = self.table.compute_figures(self.table.first_scores)
        point = _Point(np.zeros(len(self.units)), figures)
        improved = True
        while improved:
            improved = False
            for signal in self.generator.permutation(movable).tolist():
                better = self._find_step(point, signal)
                if better is not None:
                    point, improved = better, True
        return point

    def _find_step(self, point: _Point, signal: int) -> _Point | None:
        """The best step of one weight, or None if none is significant. A removal needs no gain."""
        scores = self.table.first_scores + self.values @ point.weights
        if point.weights[signal]:
            without = self._move(scores, point, signal, -float(point.weights[signal]))
            if without.figures.mean() >= point.figures.mean():
                return without
        steps = [sign * step * self.units[signal] for step in STEPS for sign in (1.0, -1.0)]
        points = [self._move(scores, point, signal, step) for step in steps]
        best = max(points, key=lambda moved: float(moved.figures.mean()))
        gains = best.figures - point.figures
        standard_error = float(gains.std()) / np.sqrt(len(gains))
        return best if gains.mean() > MIN_STANDARD_ERRORS * standard_error else None

    def _move(self, scores: Array, point: _Point, signal: int, step: float) -> _Point:
        weights = point.weights.copy()
        weights[signal] += step
        if abs(weights[signal]) < 1e-12:  # a rounding error of steps that cancel out
            weights[signal] = 0.0
        return _Point(weights, self.table.compute_figures(scores + step * self.values[..., signal]))


def _transform(signals: Sequence[RankingSignal], table: SignalTable) -> Array:
    """Signals as the ranking adds them at weight 1, (T, D, S): features in their forms, 0 if missing."""
    values: Array = np.nan_to_num(table.values, nan=0.0)
    for n, signal in enumerate(signals):
        if is_feature(signal):
            static = to_adjustment(signal).static()
            values[..., n] = score_static(static, table.values[..., n])
    return values


def _compute_spread(values: Array, table: SignalTable) -> Array:
    """The spread of each signal (T, D, S) within a topic: the root of the mean variance, (S,)."""
    is_candidate = np.isfinite(table.first_scores)
    variances = [
        values[row, is_candidate[row]].var(axis=0) for row in range(len(values)) if is_candidate[row].any()
    ]
    return np.asarray(np.sqrt(np.mean(variances, axis=0)))


def prior_name(signal: RankingSignal) -> str:
    """The name of the prior that is this signal."""
    return signal.signal.partition(" ")[2]
