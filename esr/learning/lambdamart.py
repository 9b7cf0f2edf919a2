"""LambdaMART: regression trees that rerank the best sentences of a first stage.

Burges 2010 (MSR-TR-2010-82), by LightGBM. The trees add to the first stage's scores, so that a few small
trees change little. LightGBM is needed for training only, not for ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from esr.errors import UsageError
from esr.extras import require
from esr.learning.signal_table import SignalTable
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
    # More threads would wait for each other on a busy machine, and sum in another order.
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
MAX_GRADE = 5
"""Higher grades count as this one: LightGBM's gain is 2 to the power of the grade, minus 1."""


@dataclass(frozen=True)
class LambdaMart:
    """Trees over the signals, and each signal's importance (S,): the reduction of the loss by its splits."""

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


def fit(table: SignalTable, signals: Sequence[RankingSignal], seed: int = 0) -> LambdaMart:
    """Train trees on the table's topics, deterministically. Raises UsageError without LightGBM."""
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
    """A tree of LightGBM as lists of numbers, with parents before their children."""
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
    """Whether missing values go left. If training had no missing values, LightGBM takes them for 0."""
    if node["missing_type"] == "NaN":
        return bool(node["default_left"])
    return float(node["threshold"]) >= 0.0
