"""Signals of the second stage: their types, their weighted form in a ranking, and trees over them.

A signal is one of:

    tdsr, mrf_sdm, mrf_fdm       term dependence (esr.dependency)
    dir, 2si both, 2si document  the first-stage score of a model, in a context
    prior importance             a prior
    feature subj                 the value of a feature
    meaning                      similarity of vectors (docs/formulas.md, section F)
    cross hf:OWNER/NAME          the score of a cross-encoder for query and sentence
    freshness                    how new the document is

Regression trees come from `esr learn --learner lambdamart`. Ranking files store them as plain numbers, so a
file from elsewhere can do nothing worse than be rejected, and ranking with them needs only numpy.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import force_setattr

from esr import models
from esr.dependency import dependence_signals
from esr.errors import UsageError, unknown
from esr.index.contract import Index, mean_known
from esr.models import Model
from esr.models.static_scores import PRIORS, Prior, feature_column
from esr.plans.evaluate import Array
from esr.plans.plan import DAY, Plan
from esr.ranking.rerank_context import CROSS_VARIABLE, FEEDBACK, RerankContext, VectorWeights
from esr.registry import Parameter, Value, check_parameters, describe, parse_values
from esr.text.document import PARSE, VECTORS

# The signal `meaning`

NAME = "meaning"
MEANING_WEIGHT = Parameter(
    "w",
    "weight of the signal",
    25.0,
    low=-1e6,
    high=1e6,
    grid=(0.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0),
)
PARAMETERS = (
    Parameter("nu", "share of the neighbours", 0.0, high=0.5, grid=(0.0, 0.1, 0.2, 0.3)),
    Parameter("lambda", "share of the document", 0.0, high=0.5, grid=(0.0, 0.1, 0.2)),
    Parameter("empty", "share of the vector of an empty query, subtracted from the query's", 0.0, high=1.0),
    Parameter(
        "feedback",
        f"share of the mean vector of the best {FEEDBACK} sentences of a first ranking, added to the query's",
        0.0,
        high=1.0,
    ),
)


def meaning_shares(context: RerankContext, settings: Mapping[str, Value]) -> Mapping[str, Array]:
    """What sentence, neighbours and document add to the signal `meaning`, each of shape (n,)."""
    shares = {"neighbours": float(settings["nu"]), "document": float(settings["lambda"])}
    used = {name: share for name, share in shares.items() if share}
    similarities = context.similarities(tuple(used), VectorWeights.of(settings))
    parts = {"sentence": (1.0 - sum(used.values())) * similarities.sentence}
    for name, share in used.items():
        products = getattr(similarities, name)
        parts[name] = share * products
    return parts


def meaning_values(context: RerankContext, settings: Mapping[str, Value]) -> Array:
    """The signal `meaning`: the sum of its shares, NaN for a sentence without a vector."""
    return sum(meaning_shares(context, settings).values(), start=np.zeros(()))


# The signal `cross`

CROSS = "cross"
CROSS_DEPTH = Parameter(
    "depth", "number of the best sentences that it reads", 50, low=1, high=1000, integer=True
)
SECONDS = Parameter(
    "seconds",
    "time limit of reading; sentences not read in time keep their order",
    5.0,
    high=600.0,
    open_low=True,
)
_CROSS_TEXT = re.compile(
    rf"{CROSS}[: ](?P<model>https?://(?:\[[^\]]*\]|[^/:]*)(?::\d+)?(?:/[^:]*)?|hf:[^:]*|(?![^:]*=|[\d.+-]+(?::|$))[^:]+)"
    r"(?::(?P<rest>.*))?"
)
"""Text of a signal `cross`. A model is an address, a hub name or a folder, not a weight or a parameter."""


def cross_scores(
    model: str, query: str, texts: Sequence[str], seconds: float = math.inf
) -> npt.NDArray[np.float64]:
    """The scores of a cross-encoder, of shape (n,), NaN for texts it had no time for. Raises EsrError.

    An empty `model` stands for the one of the environment.
    """
    from esr.encoders import load_cross_encoder  # slow to import, needed by few searches

    if not texts:
        return np.zeros(0)
    name = model or os.environ.get(CROSS_VARIABLE)
    if not name:
        raise UsageError(
            f"the signal {CROSS} needs a cross-encoder: write {CROSS}:MODEL, or set {CROSS_VARIABLE}"
        )
    return load_cross_encoder(name).scores(query, texts, seconds)


# The signal `freshness`

FRESHNESS = "freshness"
HALF_LIFE = Parameter(
    "half_life",
    "days after which a sentence is half as probable",
    30.0,
    high=1e6,
    open_low=True,
    grid=(7.0, 30.0, 90.0, 365.0),
)

# Types of signals

PRIOR, FEATURE = "prior ", "feature "
WEIGHT = Parameter(
    "w",
    "weight of the signal",
    1.0,
    low=-1e6,
    high=1e6,
    grid=(0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
)
Settings = Mapping[str, Value]


class SignalType(Struct, frozen=True):
    """A type of signal: a number per sentence for a query. `compute` returns shape (n,), NaN for no value.

    Reports group signals by `group`. `column` names the stored number that the signal equals, if any. `parts`
    returns the addends of the value. `needs` is the part of enrichment that the values come from.

    A signal that `is_last` is computed only for the best sentences by all other signals, and reorders them. A
    signal that needs vectors also adds the nearest sentences by vector to the candidates. A sentence without
    a vector gets the mean of the others: similarities are far above 0, so the usual 0 would be a penalty.
    """

    name: str
    group: str
    description: str
    source: str
    parameters: tuple[Parameter, ...]
    compute: Callable[[RerankContext, Settings], Array]
    column: str | None = None
    weight: Parameter = WEIGHT
    parts: Callable[[RerankContext, Settings], Mapping[str, Array]] | None = None
    needs: str | None = None
    is_last: bool = False

    @property
    def uses_vectors(self) -> bool:
        return self.needs == VECTORS

    def has_values(self, index: Index) -> bool:
        """Whether the index has what the signal needs."""
        if self.needs == PARSE:
            return index.has_parses()
        return self.needs is None or index.encoder() is not None

    def as_dict(self) -> dict[str, Any]:
        return describe(self)


def find_signal_type(name: str) -> SignalType:
    """Return the signal type of a name or short name. Raises UsageError with the nearest name."""
    if name.startswith(FEATURE):
        return _feature(name.removeprefix(FEATURE))
    if name.startswith(f"{CROSS} "):
        return _cross(name.removeprefix(f"{CROSS} "))
    by_name = signal_types()
    full_name = dependence_signals.ALIASES.get(name, name)
    if full_name not in by_name:
        raise unknown("signal", name, [*by_name, f"{FEATURE}len"])
    return by_name[full_name]


@cache
def signal_types() -> Mapping[str, SignalType]:
    """All signal types by name, except features, which depend on the index."""
    types = [_dependence(signal) for signal in dependence_signals.SIGNALS.values()]
    for model in models.MODELS.values():
        if model.second_stage is None:
            types += [_model(model, context) for context in model.contexts or (None,)]
    types += [_prior(prior) for prior in PRIORS.values()]
    types += [_meaning(), _cross(""), _freshness()]
    return {signal_type.name: signal_type for signal_type in types}


def _dependence(signal: dependence_signals.Signal) -> SignalType:
    def compute(context: RerankContext, settings: Mapping[str, Value]) -> Array:
        return signal.scores(context.parses(), settings)

    group = "term dependence"
    return SignalType(
        signal.name, group, signal.description, signal.source, signal.parameters, compute, needs=PARSE
    )


def _model(model: Model, context: models.Context | None) -> SignalType:
    parameters = tuple(p for p in model.parameters if p.only_with in (None, context))
    name = f"{model.name} {context}" if context else model.name
    description = f"the score of model {model.name}" + (f" with context {context}" if context else "")
    compute = partial(_model_scores, model, context)
    return SignalType(name, "models", description, model.source, parameters, compute)


def _model_scores(
    model: Model,
    model_context: models.Context | None,
    context: RerankContext,
    settings: Mapping[str, Value],
) -> Array:
    values = {p.name: settings[p.name] for p in model.parameters if p.name in settings}
    seen = {term: count for term, count in context.counts.items() if context.statistics.terms[term].is_seen}
    query = models.Query(seen, sum(context.counts.values()), context.statistics)
    weighted = model.plan(model.settings(values, model_context), query)
    scores = context.plan_scores(Plan(weighted.terms, weighted.transform, "matching", "document"))
    return np.where(np.isfinite(scores), scores, np.nan)


def _prior(prior: Prior) -> SignalType:
    def compute(context: RerankContext, settings: Mapping[str, Value]) -> Array:
        with np.errstate(divide="ignore"):
            column = context.column(prior.column)
            values = np.log(column) if prior.form == "log" else column
        log_priors = values + prior.constant(context.statistics.collection)
        return np.where(np.isfinite(log_priors), log_priors, np.nan)

    return SignalType(
        PRIOR + prior.name, "priors", prior.description, prior.source, (), compute, prior.column
    )


def _meaning() -> SignalType:
    return SignalType(
        NAME,
        "meaning",
        "how close the vectors of the sentence, its neighbours and its document are to that of the query",
        "docs/formulas.md, F.1",
        PARAMETERS,
        meaning_values,
        weight=MEANING_WEIGHT,
        parts=meaning_shares,
        needs=VECTORS,
    )


@cache
def _cross(model: str) -> SignalType:
    def compute(context: RerankContext, settings: Settings) -> Array:
        return cross_scores(model, context.text, context.sentence_texts())

    return SignalType(
        f"{CROSS} {model}".strip(),
        "cross-encoder",
        f"the score of a cross-encoder, {model or CROSS_VARIABLE}, for the query and the sentence",
        "Nogueira & Cho 2019; docs/meaning.md",
        (CROSS_DEPTH, SECONDS),
        compute,
        is_last=True,
    )


def _freshness() -> SignalType:
    return SignalType(
        FRESHNESS,
        "time",
        "log prior of the date: each half-life before the newest sentence of the index halves it; a sentence "
        "without a date is one half-life old",
        "Li & Croft 2003; docs/formulas.md, B.12",
        (HALF_LIFE,),
        freshness_values,
        DAY,
    )


def freshness_values(context: RerankContext, settings: Settings) -> Array:
    """The signal `freshness`: -log 2 for each half-life of a sentence's age, of shape (n,)."""
    ages = np.maximum(context.newest_day() - context.column(DAY), 0.0)
    half_lives = np.nan_to_num(ages / float(settings["half_life"]), nan=1.0)
    return -math.log(2.0) * half_lives


def _feature(feature: str) -> SignalType:
    column = feature_column(feature)
    return SignalType(
        FEATURE + feature,
        "features",
        f"the value of the feature {feature}",
        "docs/features.md",
        (),
        lambda context, settings: context.column(column),
        column,
    )


# Signals in a ranking

Positions = npt.NDArray[np.intp]


class RankingSignal(Struct, frozen=True):
    """A signal in a ranking, with its parameters; those missing from `params` have their defaults.

    Raises UsageError for an unknown signal or parameter, with the nearest name, or a value out of range.
    """

    signal: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        force_setattr(self, "signal", self.type.name)
        self.settings()

    @property
    def type(self) -> SignalType:
        return find_signal_type(self.signal)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (self.type.weight, *self.type.parameters)

    @property
    def weight(self) -> float:
        return float(self.settings()["w"])

    def settings(self) -> dict[str, Value]:
        """All parameters, defaults filled in."""
        return check_parameters(self.signal, self.parameters, self.params)

    def values(self, context: RerankContext) -> Array:
        """The unweighted signal of each sentence, of shape (n,), NaN where it has no value."""
        return self.type.compute(context, self.settings())

    def adds(
        self, context: RerankContext, top: Positions | None = None, by_words: Positions | None = None
    ) -> Array:
        """The weighted signal of the sentences at positions `top`, or of all, of shape (m,).

        A sentence without a value gets 0 or, for signals that use vectors, the mean of the known values. The
        mean is over the positions `by_words` if any value is known there, since the nearest sentences by
        vector would raise it.
        """
        all_values = self.values(context)
        values, missing = all_values if top is None else all_values[top], 0.0
        if self.type.uses_vectors:
            others = values if by_words is None else all_values[by_words]
            missing = mean_known(others if np.isfinite(others).any() else values)
        return self.weight * np.nan_to_num(values, nan=missing)

    def as_dict(self) -> dict[str, Any]:
        """As in a ranking file, with every default filled in."""
        return {"signal": self.signal, **self.settings()}


def signal_from_dict(data: Any) -> RankingSignal:
    """Read a signal from JSON: `{"signal": "sdm", "w": 0.5, "alpha": 0.3}`."""
    if not isinstance(data, Mapping) or not isinstance(data.get("signal"), str):
        raise UsageError(
            f'a signal must be a JSON object such as {{"signal": "tdsr", "w": 0.5}}, not {data!r}'
        )
    return RankingSignal(data["signal"], {key: value for key, value in data.items() if key != "signal"})


def parse_signal(text: str) -> RankingSignal:
    """Read a signal, `NAME[:WEIGHT][:PARAMETER=VALUE...]`, such as `sdm:0.5` or `tdsr:1:alpha=0.3`."""
    if match := _CROSS_TEXT.fullmatch(text):
        name, rest = f"{CROSS} {match['model']}", match["rest"]
        parts = rest.split(":") if rest else []
    else:
        name, *parts = text.split(":")
    return RankingSignal(name, parse_values("--rerank", text, parts))


# Regression trees

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
