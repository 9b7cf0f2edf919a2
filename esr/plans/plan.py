"""The scoring plan: a ranking for one query as plain data. Engines execute it, models write it.

Two shapes of transform cover every model of the papers (formulas.md, section A):

*Mixture*     score = sum over terms of  weight * log( evidence + C * p(t) )
              evidence = A * c(t,s)/c(s) + N * c(t,c_s)/c(c_s) + B * c(t,d)/c(d)
              A, N, B, C are affine in beta = mu / (c(s) + mu); an empty sentence has no terms.
*Saturation*  score = sum over terms of  weight * curve( evidence )
              evidence = sum over fields of  share * c(t,field) / (1 - b + b * length/average)
              curve(x) = log(1 + x), or (k1 + 1) * x / (k1 + x)

To the sum come static parts: numbers stored with the sentence, each through a form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

FieldName = Literal["sentence", "surrounding", "document"]
FIELDS: tuple[FieldName, ...] = ("sentence", "surrounding", "document")
Rule = Literal["matching", "context", "all"]
CANDIDATES: dict[Rule, str] = {
    "matching": "sentences with at least one query term",
    "context": "sentences with a query term in themselves or in their context",
    "all": "every sentence",
}


class Affine(NamedTuple):
    """constant + slope * beta."""

    constant: float = 0.0
    slope: float = 0.0

    @property
    def zero(self) -> bool:
        return self.constant == 0.0 and self.slope == 0.0


class Smoothing(NamedTuple):
    """A field of the saturation: its share, its length normalisation b, its average length."""

    share: float = 0.0
    b: float = 0.0
    average: float = 1.0


@dataclass(frozen=True, slots=True)
class Mixture:
    """Weights of a language model. `mu` 0 makes beta 0."""

    mu: float
    sentence: Affine
    surrounding: Affine
    document: Affine
    collection: Affine

    def fields(self) -> Iterator[FieldName]:
        """The fields that this transform looks at."""
        return (name for name in FIELDS if not getattr(self, name).zero)


@dataclass(frozen=True, slots=True)
class Saturation:
    """Weights of a saturating model. `k1` is None for the logarithm."""

    k1: float | None
    sentence: Smoothing
    surrounding: Smoothing
    document: Smoothing

    def fields(self) -> Iterator[FieldName]:
        return (name for name in FIELDS if getattr(self, name).share != 0.0)


class PlanTerm(NamedTuple):
    """A query term: its weight, and for mixtures its probability in the collection."""

    term: str
    weight: float
    background: float = 0.0


class Static(NamedTuple):
    """A number stored with each sentence that adds to its score, whatever the query.

    `weight * form(column) + constant`. A form that has no value at a sentence (the logarithm of
    length 0) takes the sentence out of the answer.
    """

    column: str
    form: Literal["identity", "log"]
    weight: float
    constant: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A query as an engine executes it. Terms are distinct and all in the collection.

    `context` is the field that the candidate rule "context" looks at beside the sentence.
    """

    terms: tuple[PlanTerm, ...]
    transform: Mixture | Saturation
    candidates: Rule
    context: Literal["surrounding", "document"]
    statics: tuple[Static, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON: what is printed, stored and compared."""
        return {"shape": type(self.transform).__name__.lower(), **asdict(self)}

    @property
    def query_weight(self) -> float:
        """The sum of the terms' weights: |q| for a query likelihood."""
        return math.fsum(term.weight for term in self.terms)
