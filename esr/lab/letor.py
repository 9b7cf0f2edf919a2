"""Signals for other learners, and the trees that these learn as rankings.

`letor` and `svmlight` lines have a sentence's grade and the numbered signals. Beside the file stand its
description, which says what the numbers mean, and for `svmlight` the sizes of the topics. Models are the JSON
of LightGBM (`dump_model`) and of XGBoost (`save_model`). They are converted to plain numbers and checked like
those that `esr learn` writes, so a file from elsewhere can do nothing worse than be rejected.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from esr.errors import InputError, UsageError
from esr.lab.learners import convert_tree
from esr.lab.training_data import TopicSignals
from esr.ranking.ranking import Ranking, read_json
from esr.ranking.signals import RankingSignal, relative_to_best, signal_from_dict, trees_from_dict

FORMATS = {
    "letor": "`grade qid:1 1:value 2:value # topic sentence`, for RankLib, XGBoost and scikit-learn",
    "svmlight": "`grade 0:value 1:value`, and the sizes of the topics in FILE.query, for LightGBM",
}
DESCRIPTION = ".signals.json"
QUERY = ".query"


@dataclass(frozen=True)
class Description:
    """What a file of signals was written with: the first stage, its depth, and the signals in their order."""

    ranking: Ranking
    depth: int
    signals: tuple[RankingSignal, ...]

    def as_dict(self) -> dict[str, Any]:
        signals = [{k: v for k, v in signal.as_dict().items() if k != "w"} for signal in self.signals]
        return {"ranking": self.ranking.as_dict(), "depth": self.depth, "signals": signals}


def read_description(path: Path) -> Description:
    """Read a description. Raises InputError for anything else."""
    data = read_json(path)
    keys = {"ranking", "depth", "signals"}
    if not isinstance(data, Mapping) or data.keys() != keys or not isinstance(data["signals"], list):
        raise InputError(str(path), f"is no description of signals: it needs {', '.join(sorted(keys))}")
    try:
        signals = tuple(map(signal_from_dict, data["signals"]))
        return Description(
            Ranking.from_dict({**data["ranking"], "depth": data["depth"]}), data["depth"], signals
        )
    except (UsageError, TypeError) as error:
        raise InputError(str(path), str(error)) from None


def write_signals(path: Path, form: str, topics: Sequence[TopicSignals], description: Description) -> int:
    """Write the file, its description, and for `svmlight` the sizes of the topics. Returns the lines.

    Topics without a candidate have no line. A signal that depends on the query is its distance from the best
    of the topic, as trees use it; an unknown value is NaN.
    """
    topics = [topic for topic in topics if len(topic.grades)]
    lines = [
        line for n, topic in enumerate(topics, 1) for line in _lines(form, n, topic, description.signals)
    ]
    path.write_text("".join(lines), "utf-8")
    _beside(path, DESCRIPTION).write_text(json.dumps(description.as_dict(), indent=1) + "\n", "utf-8")
    if form == "svmlight":
        _beside(path, QUERY).write_text("".join(f"{len(topic.grades)}\n" for topic in topics), "utf-8")
    return len(lines)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _lines(form: str, number: int, topic: TopicSignals, signals: Sequence[RankingSignal]) -> Iterator[str]:
    is_letor = form == "letor"
    table = relative_to_best(signals, topic.values).tolist()
    for grade, row, id in zip(topic.grades.tolist(), table, topic.ids, strict=False):
        values = " ".join(f"{n}:{_format(value)}" for n, value in enumerate(row, int(is_letor)))
        yield f"{grade} qid:{number} {values} # {topic.topic} {id}\n" if is_letor else f"{grade} {values}\n"


def _format(value: float) -> str:
    return "NaN" if math.isnan(value) else repr(value)


# Models


def read_model(path: Path, description: Description, *, with_first_stage: bool = False) -> Ranking:
    """The ranking of a model of LightGBM or XGBoost: its trees rerank the best sentences of the first stage.

    The trees alone order these sentences, or with the score of the first stage added. Raises InputError for a
    file that is not such a model, or of a kind that cannot be converted.
    """
    data = read_json(path)
    if not isinstance(data, Mapping):
        raise InputError(str(path), "is not a model: it must be a JSON object")
    convert = next((READERS[key] for key in READERS if key in data), None)
    if convert is None:
        raise InputError(
            str(path),
            "is no model of LightGBM or XGBoost: write it with json.dump(booster.dump_model()) or "
            'booster.save_model("model.json")',
        )
    try:
        trees = convert(data, len(description.signals))
        inputs = [signal.as_dict() for signal in description.signals]
        inputs = [{key: value for key, value in signal.items() if key != "w"} for signal in inputs]
        ensemble = trees_from_dict({"inputs": inputs, "trees": trees, "alone": not with_first_stage})
        return Ranking.from_dict(
            {**description.ranking.as_dict(), "trees": ensemble, "depth": description.depth}
        )
    except UsageError as error:
        raise InputError(str(path), str(error)) from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(str(path), f"is a damaged model: {type(error).__name__} {error}") from None
    except RecursionError:
        raise InputError(str(path), "is not a model: its trees are nested too deeply") from None


def _first_column(columns: int, signals: int) -> int:
    """0 or 1: the column of the first signal. Some loaders keep LETOR's numbers, which begin at 1."""
    if columns - signals not in (0, 1):
        raise UsageError(f"was learned from {columns} signals, but the description has {signals}")
    return columns - signals


def _reject(is_unsupported: bool, what: str) -> None:
    if is_unsupported:
        raise UsageError(f"has {what}, which esr cannot convert")


def _convert_lightgbm(data: Mapping[str, Any], signals: int) -> list[dict[str, Any]]:
    _reject(int(data["num_tree_per_iteration"]) != 1, "several trees per round, for classes")
    _reject(bool(data.get("average_output")), "trees that are averaged (a random forest)")
    first = _first_column(int(data["max_feature_idx"]) + 1, signals)
    trees = []
    for entry in data["tree_info"]:
        _check_nodes(entry["tree_structure"])
        tree = convert_tree(entry["tree_structure"]).as_dict()
        trees.append({**tree, "input": [column - first for column in tree["input"]]})
    return trees


def _check_nodes(root: Mapping[str, Any]) -> None:
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if "leaf_value" in node:
            _reject("leaf_coeff" in node, "linear models in its leaves")
            continue
        _reject(node["decision_type"] != "<=", "categorical splits")
        _reject(node["missing_type"] == "Zero", "splits that take 0 for a missing value")
        nodes += [node["left_child"], node["right_child"]]


def _convert_xgboost(data: Mapping[str, Any], signals: int) -> list[dict[str, Any]]:
    learner = data["learner"]
    booster, parameters = learner["gradient_booster"], learner["learner_model_param"]
    _reject(booster["name"] != "gbtree", f"a booster {str(booster['name'])[:20]!r}")
    _reject(int(parameters.get("num_class", 0)) > 1, "several classes")
    first = _first_column(int(parameters["num_feature"]), signals)
    return [_convert_xgboost_tree(tree, first) for tree in booster["model"]["trees"]]


def _convert_xgboost_tree(tree: Mapping[str, Any], first: int) -> dict[str, Any]:
    """The tree with its inner nodes and its leaves numbered apart, parents before children."""
    left, right, values = tree["left_children"], tree["right_children"], tree["split_conditions"]
    _reject(any(kind != 0 for kind in tree.get("split_type", ())), "categorical splits")
    _reject(int(tree["tree_param"].get("size_leaf_vector", 1)) > 1, "vectors in its leaves")
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if len(order) > len(left):
            raise UsageError("has a tree with a cycle")
        if left[node] != -1:
            waiting += [right[node], left[node]]
    inner = {node: n for n, node in enumerate(node for node in order if left[node] != -1)}
    leaves = {node: -1 - n for n, node in enumerate(node for node in order if left[node] == -1)}
    number = inner | leaves
    return {
        "input": [tree["split_indices"][node] - first for node in inner],
        "threshold": [_last_below(values[node]) for node in inner],
        "missing_left": [int(tree["default_left"][node]) for node in inner],
        "left": [number[left[node]] for node in inner],
        "right": [number[right[node]] for node in inner],
        "value": [float(values[node]) for node in leaves],
    }


def _last_below(threshold: float) -> float:
    """The greatest number that XGBoost, which rounds numbers to single precision, has below the threshold."""
    if not abs(threshold) <= float(np.finfo(np.float32).max):
        raise UsageError("has a threshold that is not a finite number in single precision")
    above = np.float32(threshold)
    below = np.nextafter(above, np.float32(-np.inf))
    middle = (float(above) + float(below)) / 2
    rounds_down = float(np.float32(middle)) < float(above)
    return middle if rounds_down else math.nextafter(middle, -math.inf)


READERS: Mapping[str, Callable[[Mapping[str, Any], int], list[dict[str, Any]]]] = {
    "tree_info": _convert_lightgbm,
    "learner": _convert_xgboost,
}
"""Converters by a key that only models of their library have."""
