"""The parts of a sentence's score in the first stage. Each carries its origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from esr.adjustments import Adjustment
from esr.ranking.origin import Origin


class Addition(NamedTuple):
    """A number that adds to the score, and its origin."""

    origin: Origin
    adds: float


@dataclass(frozen=True, slots=True)
class FieldPart:
    """What one field gives for one term: the term's count there, the field's length, and what that adds."""

    origin: Origin
    count: int
    length: int
    adds: float

    def as_dict(self) -> dict[str, Any]:
        return {"count": self.count, "length": self.length, "adds": self.adds}


@dataclass(frozen=True, slots=True)
class TermPart:
    """One term: its weight, p(t|C) (mixtures), its fields, and what the collection alone adds.

    `boosts` says how much of the weight comes from which boost.
    """

    origin: Origin
    weight: float
    probability: float | None
    fields: Sequence[FieldPart]
    background: float
    boosts: Mapping[str, float]

    @property
    def adds(self) -> float:
        return self.background + sum(part.adds for part in self.fields)

    @property
    def additions(self) -> list[Addition]:
        """What adds, one by one: the fields, then the collection."""
        collection = Addition(Origin("collection", "collection", self.origin.name), self.background)
        return [*(Addition(part.origin, part.adds) for part in self.fields), collection]

    def as_dict(self) -> dict[str, Any]:
        return {
            "term": self.origin.name,
            "weight": self.weight,
            "probability": self.probability,
            "fields": {part.origin.name: part.as_dict() for part in self.fields},
            "background": self.background,
            "adds": self.adds,
            "boosts": dict(self.boosts),
        }


@dataclass(frozen=True, slots=True)
class PriorPart:
    """One prior: the stored value, the weight on it, and what it adds."""

    origin: Origin
    value: float
    weight: float
    adds: float


@dataclass(frozen=True, slots=True)
class FeaturePart:
    """One feature: its value (None where it is unknown), how it is adjusted, and what it adds."""

    origin: Origin
    value: float | None
    adjustment: Adjustment
    adds: float

    @property
    def params(self) -> dict[str, float]:
        """The parameters that the form is computed with."""
        full = self.adjustment.as_dict()
        return {name: value for name, value in full.items() if name not in ("feature", "form", "curve")}

    def as_dict(self) -> dict[str, Any]:
        feature, form = self.adjustment.feature, self.adjustment.form
        return {"feature": feature, "value": self.value, "form": form, **self.params, "adds": self.adds}


@dataclass(frozen=True, slots=True)
class BoostPart:
    """A boost's step on a feature: the value (None where it is unknown), the weight, and what it adds."""

    origin: Origin
    value: float | None
    weight: float
    adds: float

    def as_dict(self) -> dict[str, Any]:
        boost, feature = self.origin.name, self.origin.detail
        return {
            "boost": boost,
            "feature": feature,
            "value": self.value,
            "weight": self.weight,
            "adds": self.adds,
        }
