"""What a ranking model is, and the registry of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from esr.errors import UsageError, unknown
from esr.parameter import Parameter, Value
from esr.plans.plan import Mixture, PlanTerm, Rule, Saturation
from esr.plans.statistics import Statistics
from esr.registry import Registry

Context = Literal["document", "surrounding", "both"]
CONTEXTS: dict[Context, str] = {
    "document": "the whole document, with its title where the index was loaded so",
    "surrounding": "the previous sentence, the sentence and the next one",
    "both": "the surrounding sentences and the document, each with a share of its own",
}


@dataclass(frozen=True)
class Query:
    """A query as a model sees it: c(t,q) of the seen terms in their first order, and c(q) of all."""

    counts: Mapping[str, int]
    length: int
    statistics: Statistics


@dataclass(frozen=True)
class Settings:
    """A model's parameters, all of them present and checked, and the context chosen for it."""

    values: Mapping[str, Value]
    context: Context | None

    def __getitem__(self, name: str) -> float:
        value = self.values[name]
        assert not isinstance(value, str)
        return value

    def choice(self, name: str) -> str:
        return str(self.values[name])

    @property
    def nu(self) -> float:
        """The surrounding sentences' share where both contexts are used, else 0."""
        return self["nu"] if self.context == "both" else 0.0


class Ranked(NamedTuple):
    """What a model makes of a query."""

    terms: tuple[PlanTerm, ...]
    transform: Mixture | Saturation


class SecondStage(NamedTuple):
    """What a model does with the best sentences of its plan: `first` * their score + a signal.

    `signal` is one of esr.dependency.signals, or None. With `ties` the plan's score orders what is equal.
    """

    first: float
    signal: str | None
    ties: bool = False


@dataclass(frozen=True)
class Model:
    """A ranking model, as data about itself and one function from a query to its plan.

    `contexts` is empty for models that look at the sentence alone; its first is the default. `second` is for
    models whose plan finds sentences that then get other scores.
    """

    name: str
    description: str
    source: str
    plan: Callable[[Settings, Query], Ranked]
    parameters: tuple[Parameter, ...] = ()
    contexts: tuple[Context, ...] = ()
    second: Callable[[Settings], SecondStage] | None = None

    @property
    def candidates(self) -> Rule:
        """The default rule: a sentence whose context alone matches is worth ranking if it is looked at."""
        return "context" if self.contexts else "matching"

    def context(self, name: str | None) -> Context | None:
        """The context of that name, or the default; UsageError if the model takes no such context."""
        if name is None:
            return self.contexts[0] if self.contexts else None
        if name not in CONTEXTS:
            raise unknown("context", name, CONTEXTS)
        if name not in self.contexts:
            raise UsageError(f"model {self.name!r} looks at the sentence alone: leave out --context")
        return name

    def settings(self, values: Mapping[str, Any], context: str | None) -> Settings:
        """Checked parameters, defaults filled in. Raises UsageError for a bad name or value."""
        chosen = self.context(context)
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in values:
            if name not in known:
                raise unknown(f"parameter of {self.name}", name, known)
            only = known[name].only_with
            if only and chosen != only:
                raise UsageError(f"parameter {name!r} of {self.name} goes with --context {only} only")
        checked = {name: p.check(values.get(name, p.default)) for name, p in known.items()}
        return Settings(checked, chosen)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "contexts": list(self.contexts),
            "candidates": self.candidates,
            "parameters": [parameter.as_dict() for parameter in self.parameters],
        }


MODELS: Registry[Model] = Registry("model")
ALIASES = {"fidm": "mrf_fidm", "sdm": "mrf_sdm", "fdm": "mrf_fdm"}
register = MODELS.register


def get(name: str) -> Model:
    """The model of that name, or of its short name. Raises UsageError with the nearest name."""
    return MODELS.find(ALIASES.get(name, name))
