"""Regression trees over signals, from `esr learn --learner lambdamart`.

Ranking files store them as plain numbers, so a file from elsewhere can do nothing worse than be rejected, and
ranking with them needs only numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from esr.errors import UsageError
from esr.plans.evaluate import Array
from esr.ranking.second_stage.rerank_context import RerankContext
from esr.ranking.second_stage.signals import Positions, RankingSignal, signal_from_dict

MAX_LEAVES = 1_000_000
_PARTS = ("input", "threshold", "missing_left", "left", "right", "value")


class RegressionTree(Struct, frozen=True):
    """A regression tree: nodes by number, with root 0. A child -1 - n is leaf n, whose value is added.

    A number goes left if it is at most the node's threshold; an unknown one goes left if `missing_left` is 1.
    A child's number is greater than its parent's. A tree without nodes consists of its first leaf.
    """

    input: tuple[int, ...]
    threshold: tuple[float, ...]
    missing_left: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def predict(self, table: Array) -> Array:
        """The value of each row of a table of inputs: shape (n, inputs) to (n,)."""
        at = np.zeros(len(table), np.intp) if self.input else np.full(len(table), -1, np.intp)
        inputs, thresholds = np.array(self.input, np.intp), np.array(self.threshold)
        missing, left, right = (
            np.array(part, np.intp) for part in (self.missing_left, self.left, self.right)
        )
        inside = np.flatnonzero(at >= 0)
        while len(inside):
            node = at[inside]
            number = table[inside, inputs[node]]
            goes_left = np.where(np.isnan(number), missing[node] == 1, number <= thresholds[node])
            at[inside] = np.where(goes_left, left[node], right[node])
            inside = inside[at[inside] >= 0]
        return np.array(self.value)[-1 - at]

    def as_dict(self) -> dict[str, Any]:
        return {name: list(getattr(self, name)) for name in _PARTS}


class TreeEnsemble(Struct, frozen=True):
    """Regression trees over some signals, which add the sum of their values.

    Trees that are `alone` take the place of the first stage's score.
    """

    inputs: tuple[RankingSignal, ...]
    trees: tuple[RegressionTree, ...]
    alone: bool = False

    def adds(self, context: RerankContext, top: Positions) -> Array:
        """What the trees add to all reranked sentences, at the positions `top`, of shape (m,)."""
        values = np.column_stack([signal.values(context)[top] for signal in self.inputs])
        return self.predict(relative_to_best(self.inputs, values))

    def predict(self, table: Array) -> Array:
        """The sum of the trees' values, for inputs as `relative_to_best` returns them.

        Shape (m, inputs) to (m,).
        """
        total = np.zeros(len(table))
        for tree in self.trees:
            total += tree.predict(table)
        return total

    def as_dict(self) -> dict[str, Any]:
        """As in a ranking file."""
        inputs = [{k: v for k, v in signal.as_dict().items() if k != "w"} for signal in self.inputs]
        data = {"inputs": inputs, "trees": [tree.as_dict() for tree in self.trees]}
        return {**data, "alone": True} if self.alone else data


def relative_to_best(inputs: Sequence[RankingSignal], values: Array) -> Array:
    """Transform the signals of a list's sentences, of shape (m, inputs), as trees use them.

    A signal that depends on the query becomes its distance from the best in the list, because its size varies
    with the query's length and the collection. Stored numbers are kept.
    """
    table = np.array(values, float)
    query_dependent = [column for column, signal in enumerate(inputs) if signal.type.column is None]
    if len(table):
        # A column without any value has no best value.
        table[:, query_dependent] -= np.nan_to_num(table[:, query_dependent], nan=-np.inf).max(axis=0)
    return np.where(np.isfinite(table), table, np.nan)


def trees_from_dict(data: Any) -> TreeEnsemble:
    """Read trees from JSON. Raises UsageError for an invalid tree, with its number and the problem."""
    if not isinstance(data, Mapping) or data.keys() | {"alone"} != {"inputs", "trees", "alone"}:
        raise UsageError('\'trees\' must be a JSON object with "inputs" and "trees", as esr learn writes it')
    if not isinstance(data.get("alone", False), bool):
        raise UsageError("'alone' of a ranking's trees must be true or false")
    if not isinstance(data["inputs"], list) or not isinstance(data["trees"], list) or not data["inputs"]:
        raise UsageError("'inputs' and 'trees' of a ranking's trees must be lists, 'inputs' not empty")
    inputs = tuple(map(signal_from_dict, data["inputs"]))
    if any(signal.type.is_last for signal in inputs):
        raise UsageError("trees cannot use a cross-encoder, which reads only what they have ordered")
    trees = tuple(_tree_from_dict(n, tree, len(inputs)) for n, tree in enumerate(data["trees"], 1))
    if sum(len(tree.value) for tree in trees) > MAX_LEAVES:
        raise UsageError(f"the trees of a ranking have more than {MAX_LEAVES:,} leaves")
    return TreeEnsemble(inputs, trees, data.get("alone", False))


def _tree_from_dict(number: int, data: Any, inputs: int) -> RegressionTree:
    def error(problem: str) -> UsageError:
        return UsageError(f"tree {number} of the ranking {problem}: write the file again with esr learn")

    if not isinstance(data, Mapping) or data.keys() != set(_PARTS):
        raise error(f"is not an object of {', '.join(_PARTS)}")
    if not all(isinstance(data[name], Sequence) and not isinstance(data[name], str) for name in _PARTS):
        raise error("has a part that is not a list")
    nodes, leaves = len(data["input"]), len(data["value"])
    if any(len(data[name]) != nodes for name in _PARTS[:-1]) or leaves != nodes + 1:
        raise error("has lists of the wrong lengths")
    for name in _PARTS:
        real = name in ("threshold", "value")
        if not all(_is_number(value, real) for value in data[name]):
            raise error(f"has a {name} that is not a {'finite' if real else 'whole'} number")
    if not all(0 <= column < inputs for column in data["input"]):
        raise error(f"uses an input that is none of its {inputs}")
    for side in ("left", "right"):
        for node, child in enumerate(data[side]):
            if not (node < child < nodes or -leaves <= child < 0):
                raise error("has a child that is neither a later node nor a leaf")
    return RegressionTree(*(tuple(data[name]) for name in _PARTS))


def _is_number(value: Any, real: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float) if real else int):
        return False
    try:
        return not real or math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False
