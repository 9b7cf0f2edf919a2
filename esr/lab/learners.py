"""Learners: from topics with signals to a ranking. The registry is `LEARNERS`.

The linear learner adds weighted signals to the first stage, by coordinate ascent on the measure itself
(Metzler & Croft 2007, Information Retrieval 10, 257-274). LambdaMART reranks the best sentences of the first
stage by regression trees (Burges 2010, MSR-TR-2010-82). LightGBM trains them and is not needed for ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from msgspec.structs import replace

from esr.errors import UsageError
from esr.extras import require
from esr.lab.training_data import SignalTable, is_feature, is_prior, to_adjustment
from esr.plans.evaluate import Array, apply_static_score
from esr.ranking.ranking import Ranking
from esr.ranking.signals import RankingSignal, RegressionTree, TreeEnsemble, relative_to_best

STEPS = (0.05, 0.1, 0.2, 0.4)
"""Steps of a weight, in standard deviations of the first stage's score per standard deviation of the signal.
"""
MIN_STANDARD_ERRORS = 2.0
"""The mean gain of a step must exceed this number of standard errors over topics, so that noise is not
fitted."""
RESTARTS = 3


@dataclass(frozen=True)
class Linear:
    """Weights (S,) of the signals beside a first stage with weight 1, and their importance (S,).

    The importance of a signal is its absolute weight times its standard deviation within a topic.
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


def fit_linear(table: SignalTable, signals: Sequence[RankingSignal], seed: int = 0) -> Linear:
    """The best weights on the table's topics, deterministic for a seed.

    All weights start at 0, which is the first stage. One weight after another, in random order, takes the
    step with the largest gain, until no gain is significant. The best of several restarts wins.
    """
    values = _transform(signals, table)
    spread = _compute_spread(values, table)
    first_spread = float(_compute_spread(table.first_scores[..., None], table)[0])
    units = np.divide(first_spread, spread, out=np.zeros(len(spread)), where=spread > 0)
    ascent = _Ascent(table, values, units, np.random.default_rng(seed))
    points = [ascent.run() for _ in range(RESTARTS)]
    best = max(points, key=lambda point: float(point.figures.mean())).weights
    return Linear(tuple(signals), best, np.abs(best) * spread)


class _Point(NamedTuple):
    """Weights (S,) and the topics' figures under them (T,)."""

    weights: Array
    figures: Array


class _Ascent(NamedTuple):
    """Coordinate ascent over signals with values (T, D, S). `units` (S,) scale the steps of their weights."""

    table: SignalTable
    values: Array
    units: Array
    generator: np.random.Generator

    def run(self) -> _Point:
        """Ascend from the first stage, until no step has a significant gain.

        The order of signals is random.
        """
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
        """The best step of one weight, or None if none is significant.

        Removing a signal needs no gain, only no loss.
        """
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
        if abs(weights[signal]) < 1e-12:  # steps cancelled out, up to a rounding error
            weights[signal] = 0.0
        return _Point(weights, self.table.compute_figures(scores + step * self.values[..., signal]))


def _transform(signals: Sequence[RankingSignal], table: SignalTable) -> Array:
    """The signals as the ranking adds them with weight 1, (T, D, S).

    Features have their forms; missing values are 0.
    """
    values: Array = np.nan_to_num(table.values, nan=0.0)
    for n, signal in enumerate(signals):
        if is_feature(signal):
            static_score = to_adjustment(signal).static_score()
            values[..., n] = apply_static_score(static_score, table.values[..., n])
    return values


def _compute_spread(values: Array, table: SignalTable) -> Array:
    """The standard deviation of each signal (T, D, S) within a topic: the root of the mean variance, (S,)."""
    is_candidate = np.isfinite(table.first_scores)
    variances = [
        values[row, is_candidate[row]].var(axis=0) for row in range(len(values)) if is_candidate[row].any()
    ]
    return np.asarray(np.sqrt(np.mean(variances, axis=0)))


def prior_name(signal: RankingSignal) -> str:
    """The name of the prior behind a signal."""
    return signal.signal.partition(" ")[2]


# LambdaMART


ROUNDS = 100
SETTINGS: dict[str, Any] = {
    "objective": "lambdarank",
    "num_leaves": 7,
    "learning_rate": 0.05,
    "min_data_in_leaf": 200,
    "lambda_l2": 5.0,
    "lambdarank_truncation_level": 10,
    # Several threads would wait for each other on a busy machine, and add in a varying order.
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
MAX_GRADE = 5
"""Higher grades count as this one: LightGBM's gain is 2 to the power of the grade, minus 1."""


@dataclass(frozen=True)
class LambdaMart:
    """Trees over the signals, and each signal's importance (S,): the loss reduction by splits on it.

    The trees add to the first stage's scores, so a few small trees change little.
    """

    signals: tuple[RankingSignal, ...]
    trees: TreeEnsemble
    importance: Array

    def scores(self, table: SignalTable) -> Array:
        """Scores of a table's candidates, (T, D)."""
        scores = table.first_scores.copy()
        for row, topic in enumerate(table.topics):
            n = len(topic.grades)
            if n:
                scores[row, :n] += self.trees.predict(relative_to_best(self.signals, topic.values))
        return scores

    def ranking(self, base: Ranking, depth: int) -> Ranking:
        """The ranking to save, with the trees as its second stage."""
        return replace(base, trees=self.trees, depth=depth)


def fit_lambdamart(table: SignalTable, signals: Sequence[RankingSignal], seed: int = 0) -> LambdaMart:
    """Train trees on the table's topics, deterministically.

    Raises UsageError if no candidate is relevant, and without LightGBM.
    """
    require("LambdaMART", "lightgbm")
    import lightgbm

    topics = [topic for topic in table.topics if topic.grades.any()]
    if not topics:
        raise UsageError(
            "no candidate of the first stage is relevant, so nothing can be learned: check the judgements"
        )
    data = lightgbm.Dataset(
        np.concatenate([relative_to_best(signals, topic.values) for topic in topics]),
        np.concatenate([np.minimum(topic.grades, MAX_GRADE) for topic in topics]),
        group=[len(topic.grades) for topic in topics],
        init_score=np.concatenate([topic.first_scores[: len(topic.grades)] for topic in topics]),
    )
    booster = lightgbm.train(SETTINGS | {"seed": seed}, data, ROUNDS)
    trees = tuple(convert_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"])
    gains = np.asarray(booster.feature_importance("gain"), float)
    return LambdaMart(tuple(signals), TreeEnsemble(tuple(signals), trees), gains)


def convert_tree(root: dict[str, Any]) -> RegressionTree:
    """Convert a tree of LightGBM to arrays, parents before children.

    Child -n is the n-th leaf, counted from 1.
    """
    nodes: list[dict[str, Any]] = []
    leaves: list[float] = []

    def add_node(node: dict[str, Any]) -> int:
        if "leaf_value" in node:
            leaves.append(float(node["leaf_value"]))
            return -len(leaves)
        nodes.append(node)
        number = len(nodes) - 1
        node["children"] = add_node(node["left_child"]), add_node(node["right_child"])
        return number

    add_node(root)
    return RegressionTree(
        tuple(int(node["split_feature"]) for node in nodes),
        tuple(float(node["threshold"]) for node in nodes),
        tuple(int(_is_missing_left(node)) for node in nodes),
        tuple(int(node["children"][0]) for node in nodes),
        tuple(int(node["children"][1]) for node in nodes),
        tuple(leaves),
    )


def _is_missing_left(node: dict[str, Any]) -> bool:
    """Whether missing values go left. If training had none, LightGBM treats them as 0."""
    if node["missing_type"] == "NaN":
        return bool(node["default_left"])
    return float(node["threshold"]) >= 0.0


class LearnedModel(Protocol):
    """A learned model. It scores candidates (T, D), rates each signal (S,), and becomes a ranking."""

    @property
    def signals(self) -> tuple[RankingSignal, ...]: ...
    @property
    def importance(self) -> Array: ...
    def scores(self, table: SignalTable) -> Array: ...
    def ranking(self, base: Ranking, depth: int) -> Ranking: ...


Learner = Callable[[SignalTable, Sequence[RankingSignal], int], LearnedModel]
LEARNERS: dict[str, Learner] = {"linear": fit_linear, "lambdamart": fit_lambdamart}
"""Learners by name. Each takes topics, their signals and a seed, and returns a model."""
