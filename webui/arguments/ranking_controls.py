"""The controls of a ranking, made from the registries, and what they hold, from the address."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from esr import adjustments, boosts, features, models, priors
from esr.adjustments import Adjustment
from esr.adjustments.adjustment import ALWAYS
from esr.boosts import Boost
from esr.dependency import signals
from esr.dependency.signals import Signal
from esr.errors import UsageError
from esr.models import Model
from esr.parameter import Parameter
from esr.plans.plan import CANDIDATES
from esr.ranking import signal
from esr.ranking.rerank import DEPTH
from webui.arguments.links import of_ranking
from webui.arguments.search_request import MAX_DEPTH, PARAMETER, PRIOR
from webui.pages.template_filters import first_part, plain

KEPT = 64
"""Rankings whose controls are remembered; most searches have one of a few."""


class Choice(NamedTuple):
    """An option of a select. `possible`: whether it goes with what else is chosen."""

    value: str
    label: str
    chosen: bool
    possible: bool = True


class Kept(NamedTuple):
    """A setting that the form has no other control for. It stays until its box is unticked."""

    name: str
    value: str
    label: str


class ParameterControl(NamedTuple):
    """A parameter of a model or of a prior: its range and default from the registry, and its value."""

    name: str
    parameter: Parameter
    value: str

    @property
    def number(self) -> bool:
        """Whether a browser's field for numbers can hold the value."""
        try:
            return not self.parameter.choices and (not self.value or math.isfinite(float(self.value)))
        except ValueError:
            return False


class ModelChoice(NamedTuple):
    """A model, what it allows, and its parameters."""

    model: Model
    chosen: bool
    parameters: Sequence[ParameterControl]


class PriorControl(NamedTuple):
    name: str
    prior: priors.Prior
    value: str


class Row(NamedTuple):
    """A feature of the ranking as four fields; an empty one is for one more."""

    feature: str
    form: str
    weight: str
    rest: str


class NamedRow(NamedTuple):
    """A boost or a signal of the ranking as three fields; an empty one is for one more."""

    name: str
    weight: str
    rest: str


class Boosts(NamedTuple):
    """The controls of what is added to the query."""

    rows: Sequence[NamedRow]
    offered: Sequence[Boost]


class Signals(NamedTuple):
    """The controls of the second stage: its signals, and how deep it looks."""

    rows: Sequence[NamedRow]
    offered: Sequence[Signal]
    depth: str
    usual_depth: int = DEPTH
    most_depth: int = MAX_DEPTH


@dataclass(frozen=True, eq=False)
class RankingControls:
    """All controls of one ranking. The names of their arguments begin with `prefix`.

    They are made once for the same arguments, and compared by what they are: what is drawn of them is kept.
    """

    prefix: str
    models: list[ModelChoice]
    contexts: list[Choice]
    candidates: list[Choice]
    priors: list[PriorControl]
    rows: list[Row]
    features: list[Choice]
    forms: list[adjustments.Form]
    boosts: Boosts
    signals: Signals
    kept: list[Kept] = field(default_factory=list)

    @property
    def model(self) -> ModelChoice:
        return next(choice for choice in self.models if choice.chosen)

    @property
    def summary(self) -> list[str]:
        """What is set, in a few words."""
        said = [f"ranked by {self.model.model.name}"]
        said += [f"context {c.value}" for c in self.contexts if c.chosen and c.value]
        said += [f"{p.parameter.name} {p.value}" for p in self.model.parameters if p.value]
        said += [c.value for c in self.candidates if c.chosen and c.value]
        said += [f"prior {p.prior.name} × {p.value}" for p in self.priors if p.value]
        said += [f"{r.feature} {r.form} {r.weight}".strip() for r in self.rows if r.feature]
        said += [f"boost {b.name} {b.weight}".strip() for b in self.boosts.rows if b.name]
        said += [f"signal {s.name} {s.weight}".strip() for s in self.signals.rows if s.name]
        said += [f"depth {self.signals.depth}"] if self.signals.depth else []
        return said + [k.label for k in self.kept]


def controls(given: Iterable[tuple[str, str]], known: Sequence[str], prefix: str = "") -> RankingControls:
    """The controls that hold these arguments. `known`: the features that the index has."""
    own = ((name.removeprefix(prefix), value) for name, value in given if name.startswith(prefix))
    return _made(tuple(pair for pair in own if of_ranking(pair[0])), tuple(known), prefix)


@lru_cache(KEPT)
def _made(own: tuple[tuple[str, str], ...], known: tuple[str, ...], prefix: str) -> RankingControls:
    one = dict(reversed(own))
    chosen = one.get("model", "")
    model = models.MODELS[chosen if chosen in models.MODELS else models.DEFAULT.name]
    named = {PARAMETER + p.name for p in model.parameters} | {PRIOR + p for p in priors.PRIORS}
    unfit = [(n, v) for n, v in own if n.startswith((PARAMETER, PRIOR)) and n not in named]
    rows, bad = _rows([v for n, v in own if n == "feature"])
    added, strange = _named([v for n, v in own if n == "boost"], _boost)
    second, odd = _named([v for n, v in own if n == "rerank"], _signal)
    unread = {"feature": bad, "boost": strange, "rerank": odd}
    left = [(name, text) for name, texts in unread.items() for text in texts]
    return RankingControls(
        prefix,
        [
            ModelChoice(
                m,
                m is model,
                [ParameterControl(prefix + PARAMETER + p.name, p, _value(one, p)) for p in m.parameters],
            )
            for m in models.MODELS.values()
        ],
        _contexts(one.get("context", ""), model),
        _candidates(one.get("candidates", ""), model),
        [PriorControl(prefix + PRIOR + n, p, one.get(PRIOR + n, "")) for n, p in priors.PRIORS.items()],
        rows,
        _features(known),
        [form for form in adjustments.FORMS.values() if not form.trained],
        Boosts(added, list(boosts.BOOSTS.values())),
        Signals(second, list(signals.SIGNALS.values()), one.get("depth", "")),
        [kept(prefix + name, value) for name, value in [*unfit, *left]],
    )


def kept(name: str, value: str) -> Kept:
    """A setting as a box to untick."""
    kind, _, plain = name.rpartition(".")
    return Kept(name, value, f"prior {plain} × {value}" if kind.endswith("prior") else f"{plain} {value}")


def _value(one: dict[str, str], parameter: Parameter) -> str:
    return one.get(PARAMETER + parameter.name, "")


def _contexts(chosen: str, model: Model) -> list[Choice]:
    usual = model.contexts[0] if model.contexts else "none: the sentence alone"
    offered = [Choice("", f"as the model has it ({usual})", chosen not in models.CONTEXTS)]
    return offered + [
        Choice(name, f"{name} – {first_part(description)}", name == chosen, name in model.contexts)
        for name, description in models.CONTEXTS.items()
    ]


def _candidates(chosen: str, model: Model) -> list[Choice]:
    offered = [Choice("", f"as the model has it ({model.candidates})", chosen not in CANDIDATES)]
    rules = CANDIDATES.items()
    return offered + [Choice(name, f"{name} – {text}", name == chosen) for name, text in rules]


def _features(known: Sequence[str]) -> list[Choice]:
    names = dict.fromkeys([*ALWAYS, *known])
    described = features.FEATURES
    return [
        Choice(name, f"{name} – {described[name].description}" if name in described else name, False)
        for name in names
    ]


def _rows(texts: Sequence[str]) -> tuple[list[Row], list[str]]:
    """A row a feature and an empty one; and the texts that say no feature."""
    rows, bad = [], []
    for text in texts:
        try:
            rows.append(_row(adjustments.parse(text)))
        except UsageError:
            bad.append(text)
    return [*rows, Row("", "", "", "")], bad


def _row(made: Adjustment) -> Row:
    weight = f"{made.params['w']:g}" if "w" in made.params else ""
    rest = ":".join(f"{name}={value:g}" for name, value in made.params.items() if name != "w")
    return Row(made.feature, made.form, weight, rest)


def _named(
    texts: Sequence[str], read: Callable[[str], tuple[str, Mapping[str, Any]]]
) -> tuple[list[NamedRow], list[str]]:
    """A row a boost or signal and an empty one; and the texts that say none."""
    rows, bad = [], []
    for text in texts:
        try:
            name, params = read(text)
        except UsageError:
            bad.append(text)
            continue
        given = {key: plain(value) for key, value in params.items()}
        weight = given.pop(boosts.WEIGHT, "")
        rows.append(NamedRow(name, weight, ":".join(f"{key}={value}" for key, value in given.items())))
    return [*rows, NamedRow("", "", "")], bad


def _signal(text: str) -> tuple[str, Mapping[str, Any]]:
    made = signal.parse(text)
    return made.signal, made.params


def _boost(text: str) -> tuple[str, Mapping[str, Any]]:
    name, values = boosts.parse(text)
    boosts.from_json({name: values})
    return name, values
