"""LambdaMART: regression trees that put the best sentences of a first stage in a better order.

Burges 2010 (MSR-TR-2010-82), by LightGBM. The trees start from the first stage's scores and add to them, so
that few small trees change little. LightGBM is asked for when trees are grown, not when they rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from esr.errors import UsageError
from esr.extras import require
from esr.learning.table import Table
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from esr.ranking.tree_ensemble import RegressionTree, TreeEnsemble, relative_to_best

ROUNDS = 100
SETTINGS: dict[str, Any] = {
    "objective": "lambdarank",
    "num_leaves": 7,
    "learning_rate": 0.05,
    "min_data_in_leaf": 200,
    "lambda_l2": 5.0,
    "lambdarank_truncation_level": 10,
    # More threads wait for one another on a busy machine, and would sum in another order.
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
MOST_GRADE = 5
"""Grades above are taken for this one: LightGBM's gain is 2 to the grade, less 1."""


@dataclass(frozen=True)
class LambdaMart:
    """Trees over the signals, and what each signal is worth (S,): the loss that its splits take away."""

    signals: tuple[RankingSignal, ...]
    trees: TreeEnsemble
    importance: Array

    def scores(self, table: Table) -> Array:
        """Scores of a table's candidates, of its shape (T, D)."""
        found = table.first.copy()
        for row, each in enumerate(table.topics):
            n = len(each.grades)
            if n:
                found[row, :n] += self.trees.predict(relative_to_best(self.signals, each.values))
        return found

    def ranking(self, base: Ranking, depth: int) -> Ranking:
        """The ranking to save: the trees are its second stage."""
        return replace(base, trees=self.trees, depth=depth)


def fit(table: Table, signals: Sequence[RankingSignal], seed: int = 0) -> LambdaMart:
    """Trees from the table's topics. The same call makes the same ones. UsageError without LightGBM."""
    require("LambdaMART", "lightgbm")
    import lightgbm

    topics = [each for each in table.topics if each.grades.any()]
    if not topics:
        raise UsageError("no relevant sentence is among the best of the first stage: nothing to learn from")
    data = lightgbm.Dataset(
        np.concatenate([relative_to_best(signals, each.values) for each in topics]),
        np.concatenate([np.minimum(each.grades, MOST_GRADE) for each in topics]),
        group=[len(each.grades) for each in topics],
        init_score=np.concatenate([each.first[: len(each.grades)] for each in topics]),
    )
    booster = lightgbm.train(SETTINGS | {"seed": seed}, data, ROUNDS)
    trees = tuple(tree(each["tree_structure"]) for each in booster.dump_model()["tree_info"])
    gains = np.asarray(booster.feature_importance("gain"), float)
    return LambdaMart(tuple(signals), TreeEnsemble(tuple(signals), trees), gains)


def tree(root: dict[str, Any]) -> RegressionTree:
    """A tree of LightGBM as plain numbers. Parents come before their children."""
    nodes: list[dict[str, Any]] = []
    leaves: list[float] = []

    def number(node: dict[str, Any]) -> int:
        if "leaf_value" in node:
            leaves.append(float(node["leaf_value"]))
            return -len(leaves)
        nodes.append(node)
        at = len(nodes) - 1
        node["children"] = number(node["left_child"]), number(node["right_child"])
        return at

    number(root)
    return RegressionTree(
        tuple(int(node["split_feature"]) for node in nodes),
        tuple(float(node["threshold"]) for node in nodes),
        tuple(int(_missing_left(node)) for node in nodes),
        tuple(int(node["children"][0]) for node in nodes),
        tuple(int(node["children"][1]) for node in nodes),
        tuple(leaves),
    )


def _missing_left(node: dict[str, Any]) -> bool:
    """Where no number goes. Where training saw none missing, LightGBM takes it for 0."""
    if node["missing_type"] == "NaN":
        return bool(node["default_left"])
    return float(node["threshold"]) >= 0.0
