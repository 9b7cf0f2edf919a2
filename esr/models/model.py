"""Ranking models as data, the shares of their contexts, and their registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from esr.errors import UsageError, unknown
from esr.plans.plan import CandidateRule, Mixture, PlanTerm, Saturation, Statistics
from esr.registry import Parameter, Registry, Value, check_parameters

Context = Literal["document", "surrounding", "both"]
CONTEXTS: dict[Context, str] = {
    "document": "the whole document, with its title if the index was loaded with titles",
    "surrounding": "the previous sentence, the sentence and the next one",
    "both": "the surrounding sentences and the document, each with its own share",
}
ALL_CONTEXTS: tuple[Context, ...] = ("document", "surrounding", "both")
NU = Parameter(
    "nu",
    "share of the surrounding sentences, in addition to the document's",
    0.2,
    only_with="both",
    grid=(0.0, 0.1, 0.2, 0.3, 0.4),
)


class Query(Struct, frozen=True):
    """A query as a model sees it.

    `counts` has c(t,q) of the terms that occur in the collection, in query order; `length` is c(q), the
    number of all terms of the query.
    """

    counts: Mapping[str, int]
    length: int
    statistics: Statistics


class Settings(Struct, frozen=True):
    """A model's parameters, complete and checked, and its context."""

    values: Mapping[str, Value]
    context: Context | None

    def __getitem__(self, name: str) -> float:
        value = self.values[name]
        assert not isinstance(value, str)
        return value

    def choice(self, name: str) -> str:
        """The value of a parameter that has choices."""
        return str(self.values[name])

    @property
    def nu(self) -> float:
        """The share of the surrounding with both contexts, else 0."""
        return self["nu"] if self.context == "both" else 0.0


class ContextShares(NamedTuple):
    """The shares of the surrounding sentences and of the document, each from 0 to 1."""

    surrounding: float
    document: float


def context_shares(settings: Settings, share: float) -> ContextShares:
    """`share` for a single context; with both, `share` for the document and `nu` for the surrounding.

    A context that the settings do not use has the share 0.
    """
    if settings.context == "surrounding":
        return ContextShares(share, 0.0)
    return ContextShares(settings.nu, share)


def check_at_most_one(name: str, total: float, *, strictly: bool = False) -> None:
    """Raise UsageError if a sum of shares exceeds 1 or, with `strictly`, reaches it. `name` names the sum."""
    tolerance = 1e-12
    if strictly and total > 1.0 - tolerance:
        raise UsageError(f"{name} must be below 1, not {total:g}")
    if total > 1.0 + tolerance:
        raise UsageError(f"{name} must be at most 1, not {total:g}")


class WeightedQuery(NamedTuple):
    """The weighted terms of a query and the transform of their counts, as parts of a plan."""

    terms: tuple[PlanTerm, ...]
    transform: Mixture | Saturation


class SecondStage(NamedTuple):
    """How a model rescores the best sentences of its plan: `first_weight` * the plan's score + a signal.

    `signal` is one of esr.dependency.dependence_signals, or None. With `breaks_ties`, the plan's score
    breaks ties.
    """

    first_weight: float
    signal: str | None
    breaks_ties: bool = False


class Model(Struct, frozen=True):
    """A ranking model: data about itself, and a function from a query to its plan.

    `contexts` is empty for models of the sentence alone; the first one is the default. `second_stage` is for
    models whose plan only selects sentences, which then get other scores.
    """

    name: str
    description: str
    source: str
    plan: Callable[[Settings, Query], WeightedQuery]
    parameters: tuple[Parameter, ...] = ()
    contexts: tuple[Context, ...] = ()
    second_stage: Callable[[Settings], SecondStage] | None = None

    @property
    def candidates(self) -> CandidateRule:
        """The default rule: a model with a context also ranks sentences if only their context matches."""
        return "context" if self.contexts else "matching"

    def context(self, name: str | None) -> Context | None:
        """The context of that name, or the default. Raises UsageError if the model has no such context."""
        if name is None:
            return self.contexts[0] if self.contexts else None
        if name not in CONTEXTS:
            raise unknown("context", name, CONTEXTS)
        if name not in self.contexts:
            raise UsageError(f"model {self.name!r} uses the sentence alone: leave out --context")
        return name

    def settings(self, values: Mapping[str, Any], context: str | None) -> Settings:
        """Check parameters and fill in defaults. Raises UsageError for a bad name or value."""
        context = self.context(context)
        checked = check_parameters(self.name, self.parameters, values)
        for parameter in self.parameters:
            if parameter.name in values and parameter.only_with not in (None, context):
                raise UsageError(
                    f"parameter {parameter.name!r} of {self.name} needs --context {parameter.only_with}"
                )
        return Settings(checked, context)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "contexts": list(self.contexts),
            "candidates": self.candidates,
            "parameters": [parameter.as_dict() for parameter in self.parameters],
        }


MODELS: Registry[Model] = Registry("model", "models", Model)
ALIASES: dict[str, str] = {}
"""Full names by short name."""
register: Callable[[Model], Model] = MODELS.register


def get(name: str) -> Model:
    """Return the model of that name or short name. Raises UsageError with the nearest name."""
    return MODELS.find(ALIASES.get(name, name))
