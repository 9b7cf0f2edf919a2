"""Regression trees over signals, as `esr learn --learner lambdamart` makes them, as data in a ranking file.

They are plain numbers, so a file from elsewhere can at worst be refused, and nothing but numpy is needed to
rank with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.errors import UsageError
from esr.plans.evidence import Array
from esr.ranking import signal
from esr.ranking.signal import RankingSignal
from esr.ranking.view import View

Places = npt.NDArray[np.intp]
MOST_NODES = 1_000_000
_PARTS = ("input", "threshold", "missing_left", "left", "right", "value")


@dataclass(frozen=True)
class Tree:
    """Nodes by number, the root being 0. A child that is -1 - n is the leaf n, whose value is added.

    A number goes left if it is at most the node's threshold; one that is not known, if `missing_left` is 1.
    A child's number is greater than its parent's. A tree without nodes is its first leaf.
    """

    input: tuple[int, ...]
    threshold: tuple[float, ...]
    missing_left: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def sums(self, table: Array) -> Array:
        """What the tree adds to each row of a table of inputs, of shape (n, inputs): (n,)."""
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


@dataclass(frozen=True)
class Trees:
    """Trees over some signals. What they add to a sentence is the sum over the trees."""

    inputs: tuple[RankingSignal, ...]
    trees: tuple[Tree, ...]

    def adds(self, view: View, top: Places) -> Array:
        """What the trees add to the m sentences at the places `top`, all that are reordered: (m,)."""
        values = np.column_stack([each.values(view)[top] for each in self.inputs])
        return self.sums(relative(self.inputs, values))

    def sums(self, table: Array) -> Array:
        """The same, from the inputs as `relative` gives them, of shape (m, inputs)."""
        total = np.zeros(len(table))
        for tree in self.trees:
            total += tree.sums(table)
        return total

    def as_dict(self) -> dict[str, Any]:
        """As in a ranking file."""
        inputs = [{k: v for k, v in each.as_dict().items() if k != "w"} for each in self.inputs]
        return {"inputs": inputs, "trees": [tree.as_dict() for tree in self.trees]}


def relative(inputs: Sequence[RankingSignal], values: Array) -> Array:
    """Signals of the sentences of a list, of shape (m, inputs), as trees look at them.

    Of what depends on the query it is the distance from the list's best: its size is of the query's length
    and of the collection, and would mean nothing elsewhere. Stored numbers stay as they are.
    """
    found = np.array(values, float)
    of_query = [at for at, each in enumerate(inputs) if each.kind.column is None]
    if len(found):
        # No value at all is no best either.
        found[:, of_query] -= np.nan_to_num(found[:, of_query], nan=-np.inf).max(axis=0)
    return np.where(np.isfinite(found), found, np.nan)


def from_dict(data: Any) -> Trees:
    """From JSON. Raises UsageError for what is no tree, saying which one and why."""
    if not isinstance(data, Mapping) or data.keys() != {"inputs", "trees"}:
        raise UsageError('\'trees\' is a JSON object with "inputs" and "trees", as esr learn writes it')
    if not isinstance(data["inputs"], list) or not isinstance(data["trees"], list) or not data["inputs"]:
        raise UsageError("'inputs' and 'trees' of a ranking's trees are lists, 'inputs' not empty")
    inputs = tuple(map(signal.from_dict, data["inputs"]))
    trees = tuple(_tree(number, each, len(inputs)) for number, each in enumerate(data["trees"], 1))
    if sum(len(tree.value) for tree in trees) > MOST_NODES:
        raise UsageError(f"the trees of a ranking have more than {MOST_NODES:,} leaves")
    return Trees(inputs, trees)


def _tree(number: int, data: Any, inputs: int) -> Tree:
    def bad(what: str) -> UsageError:
        return UsageError(f"tree {number} of the ranking {what}: write the file again with esr learn")

    if not isinstance(data, Mapping) or data.keys() != set(_PARTS):
        raise bad(f"is no object of {', '.join(_PARTS)}")
    if not all(isinstance(data[name], Sequence) and not isinstance(data[name], str) for name in _PARTS):
        raise bad("has a part that is no list")
    nodes, leaves = len(data["input"]), len(data["value"])
    if any(len(data[name]) != nodes for name in _PARTS[:-1]) or leaves != nodes + 1:
        raise bad("has lists of other lengths than it should")
    for name in _PARTS:
        real = name in ("threshold", "value")
        if not all(_is_number(each, real) for each in data[name]):
            raise bad(f"has a {name} that is no {'finite' if real else 'whole'} number")
    if not all(0 <= each < inputs for each in data["input"]):
        raise bad(f"asks for an input that is none of its {inputs}")
    for side in ("left", "right"):
        for node, child in enumerate(data[side]):
            if not (node < child < nodes or -leaves <= child < 0):
                raise bad("has a child that is no later node and no leaf")
    return Tree(*(tuple(data[name]) for name in _PARTS))


def _is_number(value: Any, real: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float) if real else int):
        return False
    try:
        return not real or math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False
