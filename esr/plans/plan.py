"""The scoring plan: the ranking of one query as plain data. Models build it, engines execute it.

Two shapes of transform cover all models of the papers (docs/formulas.md, section A):

*Mixture*     score = sum over terms of  weight * log( evidence + C * p(t) )
              evidence = A * c(t,s)/c(s) + N * c(t,c_s)/c(c_s) + B * c(t,d)/c(d)
              A, N, B, C are affine in beta = mu / (c(s) + mu). An empty sentence has no terms.
*Saturation*  score = sum over terms of  weight * curve( evidence )
              evidence = sum over fields of  share * c(t,field) / (1 - b + b * length/average)
              curve(x) = log(1 + x), or (k1 + 1) * x / (k1 + x)

Static scores are added to the sum: numbers stored with each sentence, each transformed by its form.

Conditions on candidates are a tree, and add nothing to a score. Their words are those of the analyzer
`words`: as written, but in lower case and without accents. Terms are those of the index's analyzer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict

FieldName = Literal["sentence", "surrounding", "document"]
FIELDS: tuple[FieldName, ...] = ("sentence", "surrounding", "document")
CandidateRule = Literal["matching", "context", "all"]
CANDIDATES: dict[CandidateRule, str] = {
    "matching": "sentences with at least one query term",
    "context": "sentences with a query term in themselves or in their context",
    "all": "every sentence",
}
"""The candidate rules. Under each, a candidate has a term, unless a condition decides (`Plan.needs_term`)."""


DAY = "day"
"""The column of the documents' dates, in days since the epoch, for the second stage."""
FEATURE_PREFIX = "features."
"""Prefix of the columns of features, such as `features.subj`. Sentences may lack a value there."""


class Affine(NamedTuple):
    """constant + slope * beta."""

    constant: float = 0.0
    slope: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 for every beta."""
        return self.constant == 0.0 and self.slope == 0.0


class Smoothing(NamedTuple):
    """A field of a saturation: its share, its length normalization b, its average length."""

    share: float = 0.0
    b: float = 0.0
    average: float = 1.0


class Mixture(Struct, frozen=True):
    """The weights of a language model. With `mu` 0, beta is 0."""

    mu: float
    sentence: Affine
    surrounding: Affine
    document: Affine
    collection: Affine

    def fields(self) -> Iterator[FieldName]:
        """The fields that this transform uses."""
        return (name for name in FIELDS if not getattr(self, name).is_zero)


class Saturation(Struct, frozen=True):
    """The weights of a saturating model. `k1` is None for the logarithm."""

    k1: float | None
    sentence: Smoothing
    surrounding: Smoothing
    document: Smoothing

    def fields(self) -> Iterator[FieldName]:
        """The fields that this transform uses."""
        return (name for name in FIELDS if getattr(self, name).share != 0.0)


class PlanTerm(NamedTuple):
    """A term with its weight and, for mixtures, its probability in the collection.

    A term that is not the query's `own` makes no sentence a candidate. It adds only its contribution beyond
    the collection's part, so sentences without it lose nothing.
    """

    term: str
    weight: float
    background: float = 0.0
    own: bool = True


StaticScoreForm = Literal["linear", "log", "step", "satu", "sigm", "curve"]


class Curve(Struct, frozen=True):
    """A piecewise cubic function through given points.

    `values` ascend; `adds` are the contributions there, `slopes` the derivatives (see
    `esr.models.curves`). Numbers outside the range contribute `outside` or, if it is None, as much as
    the nearest value.
    """

    values: tuple[float, ...]
    adds: tuple[float, ...]
    slopes: tuple[float, ...]
    outside: float | None = None


class StaticScore(Struct, frozen=True):
    """A number I stored with each sentence that adds to its score for any query.

    It adds `weight * form(I) + constant`:

    linear  I
    log     log(shift + I)
    step    1 if I > 0, else 0
    satu    I / (k + I), where a negative I counts as 0
    sigm    I^a / (k^a + I^a), likewise
    curve   curve(I)

    If this is not finite, because I is unknown (NaN) or the form is undefined there, nothing is added. If the
    static score is `required`, the sentence is left out of the results instead.
    """

    column: str
    form: StaticScoreForm
    weight: float = 1.0
    constant: float = 0.0
    required: bool = False
    shift: float = 0.0
    k: float = 1.0
    a: float = 1.0
    curve: Curve | None = None


class Plan(Struct, frozen=True):
    """A query as engines execute it. Terms are distinct and all occur in the collection.

    `context` is the field that the candidate rule "context" examines besides the sentence. Candidates are the
    sentences that are selected by the rule, satisfy the `condition` and, if the plan `needs_term`, contain a
    term, of the query or not. A plan whose condition alone decides on candidates needs none, so that a search
    has as many candidates as sentences satisfy the condition.
    """

    terms: tuple[PlanTerm, ...]
    transform: Mixture | Saturation
    candidates: CandidateRule
    context: Literal["surrounding", "document"]
    static_scores: tuple[StaticScore, ...] = ()
    condition: Condition | None = None
    needs_term: bool = True

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON, in which it is printed, stored and compared."""
        return {
            "shape": type(self.transform).__name__.lower(),
            **asdict(self),
            "transform": asdict(self.transform),
            "static_scores": tuple(
                {
                    **asdict(static_score),
                    "curve": None if static_score.curve is None else asdict(static_score.curve),
                }
                for static_score in self.static_scores
            ),
            "condition": None if self.condition is None else _describe(self.condition),
        }

    @property
    def candidate_terms(self) -> tuple[str, ...]:
        """The terms that make sentences candidates."""
        return tuple(term.term for term in self.terms if term.own)

    @property
    def query_weight(self) -> float:
        """The sum of the weights of the query's own terms: |q| for a query likelihood."""
        return math.fsum(term.weight for term in self.terms if term.own)


class TermStatistics(NamedTuple):
    """The number of sentences (sf) and documents (df) that contain a term, and its occurrences (cf)."""

    sf: int
    df: int
    cf: int

    @property
    def is_seen(self) -> bool:
        """Whether a sentence or a title contains the term. Other terms are dropped from queries."""
        return self.df > 0


class CollectionStatistics(Struct, frozen=True):
    """Statistics of the whole collection. Lengths are in terms, not counting stop words.

    Source: docs/formulas.md, section 0. `occurrences` is the length of the collection: the sum of all
    sentence lengths. `document_length` and `surrounding_length` are sums over documents and over sentences.
    `document_terms` is the sum over documents of their numbers of distinct terms, which normalizes df.
    `termless_sentences` counts the sentences without a term.
    `bounds` holds, for static scores of a plan, the least and the greatest value of their columns for which
    their forms are defined, if the engine needs them. Static scores without such values are left out.
    """

    sentences: int = 0
    documents: int = 0
    occurrences: int = 0
    document_length: int = 0
    surrounding_length: int = 0
    weighted_document_length: int = 0
    document_terms: int = 0
    longest_sentence: int = 0
    termless_sentences: int = 0
    bounds: Mapping[StaticScore, tuple[float, float]] = field(default_factory=dict)

    def background(self, term: TermStatistics) -> float:
        """p(t|C). A term that occurs only in titles counts as one occurrence, to avoid log 0."""
        return max(term.cf, 1) / max(self.occurrences, 1)

    def background_by_documents(self, term: TermStatistics) -> float:
        """p(t|C), estimated from the number of documents that contain the term."""
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
        """Mean length of a sentence's document, over sentences, so that long documents count more."""
        return self.weighted_document_length / self.sentences if self.sentences else 0.0

    @property
    def average_surrounding(self) -> float:
        return self.surrounding_length / self.sentences if self.sentences else 0.0


class Statistics(Struct, frozen=True):
    """Statistics of the collection and of the requested terms."""

    collection: CollectionStatistics
    terms: Mapping[str, TermStatistics]


class Unprunable(NamedTuple):
    """The result of a search that cannot be pruned, with the reason why every candidate must be scored."""

    reason: str


# Conditions on candidates

TextField = Literal["sentence", "title"]


class HasTerm(Struct, frozen=True):
    """The sentence contains a term."""

    term: str


class HasWords(Struct, frozen=True):
    """The words are adjacent, in this order. There is at least one."""

    words: tuple[str, ...]
    field: TextField = "sentence"


class HasPrefix(Struct, frozen=True):
    """A word has this prefix."""

    prefix: str
    field: TextField = "sentence"


class HasSource(Struct, frozen=True):
    """The document has one of these sources. Engines resolve them to the forms in documents."""

    forms: tuple[str, ...]


class HasAttribute(Struct, frozen=True):
    """The document has one of these values under one of these names (`esr.text.document`).

    Engines resolve names and values to the forms in documents.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]


class HasLanguage(Struct, frozen=True):
    """The document declares this language (a lower-case code) or a variety of it: "de" includes "de-AT"."""

    language: str


class HasEntity(Struct, frozen=True):
    """The sentence mentions one of these names: `person:Barack Obama`, or `Barack Obama` of any type.

    Engines resolve them to keys of names.
    """

    keys: tuple[str, ...]


class HasQuote(Struct, frozen=True):
    """The sentence contains direct speech."""


class SaidBy(Struct, frozen=True):
    """The sentence contains direct speech of one of these speakers. Engines resolve them to keys of names.

    `probable`: also quotations of which they are only probably the speakers.
    """

    keys: tuple[str, ...]
    probable: bool = False


class DateRange(Struct, frozen=True):
    """The document is dated within these milliseconds since the epoch, both inclusive."""

    start: int | None = None
    end: int | None = None


class AllOf(Struct, frozen=True):
    """All of the conditions hold."""

    conditions: tuple[Condition, ...]


class AnyOf(Struct, frozen=True):
    """At least one of the conditions holds."""

    conditions: tuple[Condition, ...]


class Not(Struct, frozen=True):
    """The condition does not hold."""

    condition: Condition


Condition = (
    HasTerm
    | HasWords
    | HasPrefix
    | HasSource
    | HasAttribute
    | HasLanguage
    | HasEntity
    | HasQuote
    | SaidBy
    | DateRange
    | AllOf
    | AnyOf
    | Not
)


def all_of(conditions: Iterable[Condition]) -> Condition | None:
    """Combine conditions into one that holds if all do, None if there are none."""
    distinct = tuple(dict.fromkeys(conditions))
    if len(distinct) <= 1:
        return next(iter(distinct), None)
    return AllOf(distinct)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Combine conditions into one that holds if at least one does."""
    distinct = tuple(dict.fromkeys(conditions))
    return distinct[0] if len(distinct) == 1 else AnyOf(distinct)


def _describe(condition: Condition) -> dict[str, object]:
    """Convert a condition to JSON, with the name of its class."""
    name = type(condition).__name__
    if isinstance(condition, Not):
        return {"is": name, "condition": _describe(condition.condition)}
    if isinstance(condition, AllOf | AnyOf):
        return {"is": name, "conditions": [_describe(part) for part in condition.conditions]}
    return {"is": name, **{field: getattr(condition, field) for field in condition.__struct_fields__}}


def leaves(condition: Condition) -> Iterator[Condition]:
    """Yield the conditions that contain no others."""
    match condition:
        case Not(part):
            yield from leaves(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case leaf:
            yield leaf


def replace_leaves(condition: Condition, replace: Callable[[Condition], Condition]) -> Condition:
    """Replace the conditions that contain no others."""
    match condition:
        case Not(part):
            return Not(replace_leaves(part, replace))
        case AllOf(parts):
            return AllOf(tuple(replace_leaves(part, replace) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(replace_leaves(part, replace) for part in parts))
        case leaf:
            return replace(leaf)
