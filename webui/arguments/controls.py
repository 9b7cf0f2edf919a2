"""The controls of a ranking: what each offers, and what it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from esr import adjustments, priors
from esr.boosts import Boost
from esr.models import Model
from esr.parameter import Parameter
from esr.ranking.reranker import DEPTH
from esr.ranking.signal_types import SignalType
from webui.arguments.names import MAX_DEPTH


class Option(NamedTuple):
    """An option of a select. `is_possible`: whether it goes with what else is selected."""

    value: str
    label: str
    is_selected: bool
    is_possible: bool = True


class Checkbox(NamedTuple):
    """A setting that the form has no other control for. It stays until its box is unticked."""

    name: str
    value: str
    label: str


class ParameterControl(NamedTuple):
    """A parameter of a model: its range and default from the registry, and its value."""

    name: str
    parameter: Parameter
    value: str

    @property
    def is_number(self) -> bool:
        """Whether a browser's number field can hold the value."""
        try:
            return not self.parameter.choices and (not self.value or math.isfinite(float(self.value)))
        except ValueError:
            return False


class ModelOption(NamedTuple):
    """A model and the controls of its parameters."""

    model: Model
    is_selected: bool
    parameters: Sequence[ParameterControl]


class PriorControl(NamedTuple):
    name: str
    prior: priors.Prior
    value: str


class FeatureRow(NamedTuple):
    """A feature of the ranking as four fields; an empty row is for one more."""

    feature: str
    form: str
    weight: str
    parameters: str


class NamedRow(NamedTuple):
    """A boost or a signal of the ranking as three fields; an empty row is for one more."""

    name: str
    weight: str
    parameters: str


class BoostControls(NamedTuple):
    """The boosts of the ranking, and those that may be chosen."""

    rows: Sequence[NamedRow]
    available: Sequence[Boost]


class SignalControls(NamedTuple):
    """The signals of the second stage, those that may be chosen, and its depth."""

    rows: Sequence[NamedRow]
    available: Sequence[SignalType]
    depth: str
    default_depth: int = DEPTH
    max_depth: int = MAX_DEPTH


@dataclass(frozen=True, eq=False)
class RankingControls:
    """All controls of one ranking. The names of their arguments begin with `prefix`.

    They are made once for the same arguments and compared by identity, so that their HTML can be cached.
    """

    prefix: str
    models: list[ModelOption]
    contexts: list[Option]
    candidates: list[Option]
    priors: list[PriorControl]
    feature_rows: list[FeatureRow]
    features: list[Option]
    forms: list[adjustments.Form]
    boosts: BoostControls
    signals: SignalControls
    checkboxes: list[Checkbox] = field(default_factory=list)

    @property
    def model(self) -> ModelOption:
        return next(option for option in self.models if option.is_selected)

    @property
    def summary(self) -> list[str]:
        """What is set, in a few words."""
        phrases = [f"ranked by {self.model.model.name}"]
        phrases += [f"context {c.value}" for c in self.contexts if c.is_selected and c.value]
        phrases += [f"{p.parameter.name} {p.value}" for p in self.model.parameters if p.value]
        phrases += [c.value for c in self.candidates if c.is_selected and c.value]
        phrases += [f"prior {p.prior.name} × {p.value}" for p in self.priors if p.value]
        phrases += [f"{r.feature} {r.form} {r.weight}".strip() for r in self.feature_rows if r.feature]
        phrases += [f"boost {b.name} {b.weight}".strip() for b in self.boosts.rows if b.name]
        phrases += [f"signal {s.name} {s.weight}".strip() for s in self.signals.rows if s.name]
        phrases += [f"depth {self.signals.depth}"] if self.signals.depth else []
        return phrases + [box.label for box in self.checkboxes]
