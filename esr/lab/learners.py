"""Learners: from topics with signals to a ranking, by esr itself or by other programs.

`LEARNERS` is the registry of esr's learners. The linear learner adds weighted signals to the first stage, by
coordinate ascent on the measure itself (Metzler & Croft 2007, Information Retrieval 10, 257-274). LambdaMART
reranks the best sentences of the first stage by regression trees (Burges 2010, MSR-TR-2010-82). LightGBM
trains the trees and is not needed for ranking.

Other programs get files of signals. `letor` and `svmlight` lines have a sentence's grade and the numbered
signals. A second file describes the numbers, and a third one has the sizes of the topics for `svmlight`.
Models are the JSON of LightGBM (`dump_model`) and of XGBoost (`save_model`). They are converted to plain
numbers and checked as those of `esr learn` are, so files from untrusted sources are safe to read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from msgspec.structs import replace

from esr.lab.training_data import SignalTable, TopicSignals, is_feature, is_prior, to_adjustment
from esr.plugin import InputError, UsageError
from esr.plugin.provisional import (
    Array,
    Ranking,
    RankingSignal,
    RegressionTree,
    TreeEnsemble,
    apply_static_score,
    import_lazily,
    read_json,
    relative_to_best,
    require,
    signal_from_dict,
    trees_from_dict,
)

if TYPE_CHECKING:
    import lightgbm
else:
    lightgbm = import_lazily("lightgbm")

STEPS = (0.05, 0.1, 0.2, 0.4)
"""Steps of a weight, in standard deviations of the first stage's score per standard deviation of the signal.
"""
MIN_STANDARD_ERRORS = 2.0
"""Minimum mean gain of a step, in standard errors over topics, so that noise is not fitted."""
RESTARTS = 3


@dataclass(frozen=True)
class Linear:
    """Weights (S,) of the signals, which are added to a first stage of weight 1, and their importance (S,).

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

    All weights start at 0, which is the first stage. In random order, each weight takes the step with the
    largest gain, until no gain is significant. The best of several restarts is returned.
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

        Removing a signal only requires that there is no loss.
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
        if abs(weights[signal]) < 1e-12:  # steps cancelled out up to rounding errors
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
    # Several threads would wait for each other on a busy machine, and would add in a varying order.
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
MAX_GRADE = 5
"""The maximum grade; higher ones are lowered to it, since LightGBM's gain is 2^grade - 1."""


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


FORMATS = {
    "letor": "`grade qid:1 1:value 2:value # topic sentence`, for RankLib, XGBoost and scikit-learn",
    "svmlight": "`grade 0:value 1:value`, and the sizes of the topics in FILE.query, for LightGBM",
}
DESCRIPTION = ".signals.json"
QUERY = ".query"


@dataclass(frozen=True)
class Description:
    """The first stage, its depth, and the signals of a file, in the order of their numbers."""

    ranking: Ranking
    depth: int
    signals: tuple[RankingSignal, ...]

    def as_dict(self) -> dict[str, Any]:
        signals = [{k: v for k, v in signal.as_dict().items() if k != "w"} for signal in self.signals]
        return {"ranking": self.ranking.as_dict(), "depth": self.depth, "signals": signals}


def read_description(path: Path) -> Description:
    """Read a description. Raises InputError for any other file."""
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
    """Write the file, its description, and for `svmlight` the sizes of the topics.

    Returns the number of lines. Topics without candidates have none. The value of a signal that depends on
    the query is its distance from the best of the topic, as trees use it; an unknown value is NaN.
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
    """The column of the first signal: 0, or 1 for loaders that keep LETOR's numbers, which begin at 1."""
    if columns - signals not in (0, 1):
        raise UsageError(f"was learned from {columns} signals, but the description has {signals}")
    return columns - signals


def _reject(is_unsupported: bool, feature: str) -> None:
    if is_unsupported:
        raise UsageError(f"has {feature}, which esr cannot convert")


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
    """The tree with inner nodes and leaves numbered separately, parents before children."""
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
    """The greatest number that XGBoost, which rounds to single precision, takes as below the threshold."""
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
"""Converters of models, by a key that is only in the models of one library."""
