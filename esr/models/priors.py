"""Priors: static scores that are the probability of a sentence before any query is known.

They are sentence importance p(d|s), how specific a sentence's terms are to its document, and length, by
which a sentence's probability is proportional to its length.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from esr.errors import UsageError
from esr.plans.plan import CollectionStatistics, StaticScore
from esr.registry import Registry


class Prior(Struct, frozen=True):
    """A log prior: weight * ( form(column) + constant(collection) )."""

    name: str
    description: str
    source: str
    column: str
    form: Literal["linear", "log"] = "linear"
    constant: Callable[[CollectionStatistics], float] = lambda collection: 0.0

    def static_score(self, weight: float, collection: CollectionStatistics) -> StaticScore:
        """The prior as a static score of a plan."""
        return StaticScore(self.column, self.form, weight, weight * self.constant(collection), required=True)

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "description": self.description, "source": self.source}


PRIORS: Registry[Prior] = Registry("prior", "priors", Prior)


def check_weight(name: str, value: Any) -> float:
    """Check the weight of a prior. Raises UsageError unless it is a finite number."""
    try:
        weight = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not math.isfinite(weight):
        raise UsageError(f"the weight of prior {name!r} must be a finite number, not {value!r}")
    return weight


_HARM = "made for ranking within few documents; much worse over a whole collection"

for _prior in (
    Prior(
        "importance",
        f"log p(d|s), terms of the sentence in its document against the collection ({_HARM})",
        "Fernández, Losada & Azzopardi 2011, eqs. 4-7; docs/formulas.md, A.4",
        "importance",
    ),
    Prior(
        "importance-surrounding",
        f"log p(d|s) with the surrounding sentences in the document's place ({_HARM})",
        "docs/formulas.md, A.4, second reading",
        "importance_surrounding",
    ),
    Prior(
        "length",
        "log( c(s) / collection length ); sentences without terms are left out",
        "Fernández, Losada & Azzopardi 2011, Table 9; docs/formulas.md, A.8",
        "length",
        "log",
        lambda collection: -math.log(max(collection.occurrences, 1)),
    ),
):
    PRIORS.register(_prior)
