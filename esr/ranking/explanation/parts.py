"""The parts of a first-stage score, each with its origin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from esr.models.adjustments import Adjustment
from esr.ranking.ranking import Origin


class Addition(NamedTuple):
    """A number that is added to the score, and its origin."""

    origin: Origin
    adds: float


@dataclass(frozen=True, slots=True)
class FieldPart:
    """The contribution of a field to a term: the term's count, the field's length, and what they add."""

    origin: Origin
    count: int
    length: int
    adds: float

    def as_dict(self) -> dict[str, Any]:
        return {"count": self.count, "length": self.length, "adds": self.adds}


@dataclass(frozen=True, slots=True)
class TermPart:
    """The contribution of a term: its weight, p(t|C) (mixtures only), its fields, and the background's part.

    `boosts` maps each boost to the part of the weight that it gives.
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
        """One addition for each field, then one for the collection."""
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
    """The contribution of one prior: the stored value, its weight, and what they add."""

    origin: Origin
    value: float
    weight: float
    adds: float


@dataclass(frozen=True, slots=True)
class FeaturePart:
    """The contribution of one feature: its value (None if unknown), its adjustment, and what they add."""

    origin: Origin
    value: float | None
    adjustment: Adjustment
    adds: float

    @property
    def params(self) -> dict[str, float]:
        """The parameters of the adjustment's form."""
        full = self.adjustment.as_dict()
        return {name: value for name, value in full.items() if name not in ("feature", "form", "curve")}

    def as_dict(self) -> dict[str, Any]:
        feature, form = self.adjustment.feature, self.adjustment.form
        return {"feature": feature, "value": self.value, "form": form, **self.params, "adds": self.adds}


@dataclass(frozen=True, slots=True)
class BoostPart:
    """A boost's step on a feature: the value (None if unknown), the weight, and what they add."""

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


def finite_or_none(value: float) -> float | None:
    """The number for JSON: None for the infinite score of a sentence that cannot be scored."""
    return value if math.isfinite(value) else None
