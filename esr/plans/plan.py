"""The scoring plan: a ranking for one query as plain data. Engines execute it, models write it.

Two shapes of transform cover every model of the papers (docs/formulas.md, section A):

*Mixture*     score = sum over terms of  weight * log( evidence + C * p(t) )
              evidence = A * c(t,s)/c(s) + N * c(t,c_s)/c(c_s) + B * c(t,d)/c(d)
              A, N, B, C are affine in beta = mu / (c(s) + mu); an empty sentence has no terms.
*Saturation*  score = sum over terms of  weight * curve( evidence )
              evidence = sum over fields of  share * c(t,field) / (1 - b + b * length/average)
              curve(x) = log(1 + x), or (k1 + 1) * x / (k1 + x)

To the sum come static parts: numbers stored with the sentence, each through a form.

What is known of a collection as a whole. Source: docs/formulas.md, section 0.

What a search gives that could not be pruned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict

from esr.plans.condition import Condition, describe

FieldName = Literal["sentence", "surrounding", "document"]
FIELDS: tuple[FieldName, ...] = ("sentence", "surrounding", "document")
CandidateRule = Literal["matching", "context", "all"]
CANDIDATES: dict[CandidateRule, str] = {
    "matching": "sentences with at least one query term",
    "context": "sentences with a query term in themselves or in their context",
    "all": "every sentence",
}


FEATURE_PREFIX = "features."
"""The columns of features begin so: `features.subj`. A sentence need not have them."""


class Affine(NamedTuple):
    """constant + slope * beta."""

    constant: float = 0.0
    slope: float = 0.0

    @property
    def is_zero(self) -> bool:
        return self.constant == 0.0 and self.slope == 0.0


class Smoothing(NamedTuple):
    """A field of the saturation: its share, its length normalisation b, its average length."""

    share: float = 0.0
    b: float = 0.0
    average: float = 1.0


class Mixture(Struct, frozen=True):
    """Weights of a language model. `mu` 0 makes beta 0."""

    mu: float
    sentence: Affine
    surrounding: Affine
    document: Affine
    collection: Affine

    def fields(self) -> Iterator[FieldName]:
        """The fields that this transform looks at."""
        return (name for name in FIELDS if not getattr(self, name).is_zero)


class Saturation(Struct, frozen=True):
    """Weights of a saturating model. `k1` is None for the logarithm."""

    k1: float | None
    sentence: Smoothing
    surrounding: Smoothing
    document: Smoothing

    def fields(self) -> Iterator[FieldName]:
        return (name for name in FIELDS if getattr(self, name).share != 0.0)


class PlanTerm(NamedTuple):
    """A term: its weight, and for mixtures its probability in the collection.

    A term that is not the query's `own` makes no candidates, and a sentence without it loses nothing: it adds
    what it has above the collection's part.
    """

    term: str
    weight: float
    background: float = 0.0
    own: bool = True


StaticForm = Literal["linear", "log", "step", "satu", "sigm", "curve"]


class Curve(Struct, frozen=True):
    """What a number adds, from some values of it: exact there, a cubic between two of them.

    `values` rise; `adds` and `slopes` (the cubics' derivatives, of `esr.models.adjustment`) stand beside
    them. Numbers outside add `outside`, or what the nearest value adds if it is None.
    """

    values: tuple[float, ...]
    adds: tuple[float, ...]
    slopes: tuple[float, ...]
    outside: float | None = None


class Static(Struct, frozen=True):
    """A number I stored with each sentence that adds to its score, whatever the query.

    It adds `weight * form(I) + constant`:

    linear  I
    log     log(shift + I)
    step    1 if I > 0, else 0
    satu    I / (k + I), where a negative I counts as 0
    sigm    I^a / (k^a + I^a), likewise
    curve   curve(I)

    A sentence for which that is no finite number, since I is not known (NaN) or the form has no value there,
    is left out of the answer if the number is `required`; if not, nothing is added.
    """

    column: str
    form: StaticForm
    weight: float = 1.0
    constant: float = 0.0
    required: bool = False
    shift: float = 0.0
    k: float = 1.0
    a: float = 1.0
    curve: Curve | None = None


class Plan(Struct, frozen=True):
    """A query as an engine executes it. Terms are distinct and all in the collection.

    `context` is the field that the candidate rule "context" looks at beside the sentence. Of the sentences
    that the rule takes, those that satisfy the `condition` are candidates.
    """

    terms: tuple[PlanTerm, ...]
    transform: Mixture | Saturation
    candidates: CandidateRule
    context: Literal["surrounding", "document"]
    statics: tuple[Static, ...] = ()
    condition: Condition | None = None

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON: what is printed, stored and compared."""
        return {
            "shape": type(self.transform).__name__.lower(),
            **asdict(self),
            "transform": asdict(self.transform),
            "statics": tuple(map(_static_dict, self.statics)),
            "condition": None if self.condition is None else describe(self.condition),
        }

    @property
    def candidate_terms(self) -> tuple[str, ...]:
        """The terms that make candidates."""
        return tuple(term.term for term in self.terms if term.own)

    @property
    def query_weight(self) -> float:
        """The sum of the weights of the query's own terms: |q| for a query likelihood."""
        return math.fsum(term.weight for term in self.terms if term.own)


def _static_dict(static: Static) -> dict[str, Any]:
    return {**asdict(static), "curve": None if static.curve is None else asdict(static.curve)}


class TermStatistics(NamedTuple):
    """Of one term: sentences (sf) and documents (df) that contain it, its occurrences (cf)."""

    sf: int
    df: int
    cf: int

    @property
    def is_seen(self) -> bool:
        """Whether any sentence or any title holds the term; unseen terms are dropped from a query."""
        return self.df > 0


class CollectionStatistics(Struct, frozen=True):
    """Of the whole collection. Lengths are in terms, stop words already removed.

    `occurrences` is the collection's length: the sum of all sentence lengths.
    `document_length` and `surrounding_length` are sums over documents and over sentences.
    `document_terms` sums, over documents, their distinct terms (it normalises df).
    `bounds` has, for statics of a plan, the lowest and the highest value of their columns that their forms
    take, where an engine needs them; a column without such a value is left out.
    """

    sentences: int = 0
    documents: int = 0
    occurrences: int = 0
    document_length: int = 0
    surrounding_length: int = 0
    weighted_document_length: int = 0
    document_terms: int = 0
    longest_sentence: int = 0
    bounds: Mapping[Static, tuple[float, float]] = field(default_factory=dict)

    def background(self, term: TermStatistics) -> float:
        """p(t|C). A term that stands in titles only counts as one occurrence, since log 0 ranks nothing."""
        return max(term.cf, 1) / max(self.occurrences, 1)

    def background_by_documents(self, term: TermStatistics) -> float:
        """p(t|C) from the documents that contain the term."""
        return term.df / max(self.document_terms, 1)

    @property
    def average_sentence(self) -> float:
        return self.occurrences / self.sentences if self.sentences else 0.0

    @property
    def average_document(self) -> float:
        """Mean length of the documents."""
        return self.document_length / self.documents if self.documents else 0.0

    @property
    def average_document_by_sentences(self) -> float:
        """Mean length of the document that a sentence stands in: long documents count more."""
        return self.weighted_document_length / self.sentences if self.sentences else 0.0

    @property
    def average_surrounding(self) -> float:
        return self.surrounding_length / self.sentences if self.sentences else 0.0


class Statistics(Struct, frozen=True):
    """The collection and the terms that were asked for."""

    collection: CollectionStatistics
    terms: Mapping[str, TermStatistics]


class Unprunable(NamedTuple):
    """A search that cannot be pruned, and why: every candidate has to be scored."""

    reason: str
