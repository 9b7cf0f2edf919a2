"""A plan as Elasticsearch queries: for candidates, scores, and upper bounds of documents or single sentences.

Candidates satisfy the plan's rule and condition, and the filters. Conditions and filters have been resolved
(`esr.index.filters`) to written forms of values and keys of names.

The query of scores has one script per term, and one for their sum. The sources of scripts are constant and
stored, and all variables are in `params`, so that scripts are compiled once.

The bounds of documents come from the term maxima in their entries. The scripts compute what
`esr.plans.bounds` does for arrays, but from less data, so their bounds are somewhat higher. Most sentences of
a document score far below its best one: a score depends on the terms near the sentence, in the sentence or,
if the plan uses it, in the surrounding. So `NearQueries` bounds scores by the number of terms near a
sentence.

Only the mixture of the impacts (`esr.elastic.impacts`) has bounds of sentences. They need no script: a term
adds the same number to all sentences far from it, and the rest is stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from msgspec.structs import asdict

from esr.elastic.copies import REPEATED_FIELD
from esr.elastic.documents import INDEXED_FIELD, WITHOUT_TERM, WORDS_FIELD, indexed_field, quotes_clause
from esr.elastic.impacts import EMPTY, GREATEST_LENGTH, IMPACT_BOOST, IMPACTS_FIELD, MAXIMA_FIELD, Slack
from esr.elastic.statistics import GREATEST_OFFSET, GREATEST_SCORE, exclusive_minimum, static_bounds
from esr.elastic.vocabulary import ALL_KEYS, attribute_field
from esr.errors import EsrError, UsageError
from esr.index.filters import Filters
from esr.index.hits import SentenceRecord
from esr.index.names import name_key
from esr.plans.bounds import Bound
from esr.plans.evaluate import Array
from esr.plans.plan import (
    AllOf,
    AnyOf,
    CollectionStatistics,
    Condition,
    DateRange,
    FieldName,
    HasAttribute,
    HasEntity,
    HasLanguage,
    HasPrefix,
    HasQuote,
    HasSource,
    HasTerm,
    HasWords,
    Mixture,
    Not,
    Plan,
    PlanTerm,
    SaidBy,
    Saturation,
    StaticScore,
    StaticScoreForm,
    Unprunable,
)

Query = dict[str, Any]


def filter_clauses(filters: Filters, of: Literal["sentences", "documents"] = "sentences") -> list[Query]:
    """Clauses for sentences that satisfy the filters, or for documents that may have such sentences.

    The filters are resolved. The index of documents has no entities, so these are skipped there.
    """
    clauses: list[Query] = []
    if filters.date_from is not None or filters.date_to is not None:
        clauses.append(date_clause(filters.date_from, filters.date_to))
    if filters.sources:
        clauses.append(sources_clause(filters.sources))
    clauses += map(attribute_clause, filters.attributes)
    if filters.documents:
        clauses.append({"terms": {"document_id": list(filters.documents)}})
    if filters.entities and of == "sentences":
        clauses.append(names_clause(filters.entities))
    if filters.independent and of == "sentences":
        clauses.append({"bool": {"must_not": [{"term": {REPEATED_FIELD: True}}]}})
    return clauses


def date_clause(start: int | None, end: int | None) -> Query:
    """Matches dates in this range of milliseconds since the epoch, both ends included."""
    ends = {"gte": start, "lte": end}
    date_range = {key: value for key, value in ends.items() if value is not None}
    return {"range": {"date": {**date_range, "format": "epoch_millis"}}}


def sources_clause(forms: Sequence[str]) -> Query:
    """Matches entries with one of these sources, given in written forms (`resolve_source`)."""
    return {"terms": {"source": list(forms)}}


def attribute_clause(wanted: HasAttribute) -> Query:
    """Matches entries with one of the values, given in written forms (`resolve_attribute`)."""
    fields = [{"terms": {attribute_field(name): list(wanted.values)}} for name in wanted.names]
    if len(fields) == 1:
        return fields[0]
    return {"bool": {"should": fields, "minimum_should_match": 1}} if fields else {"match_none": {}}


def names_clause(names: Sequence[str]) -> Query:
    """Matches sentences with one of these names, given as keys (`resolve_name`) or forms."""
    return {"terms": {ALL_KEYS: list(map(name_key, names))}}


def condition_query(condition: Condition) -> Query:
    """Matches the sentences that satisfy the condition."""
    match condition:
        case AllOf(parts):
            return {"bool": {"filter": [condition_query(part) for part in parts]}}
        case AnyOf(parts):
            return {"bool": {"should": [condition_query(part) for part in parts], "minimum_should_match": 1}}
        case Not(part):
            return {"bool": {"must_not": [condition_query(part)]}}
        case HasTerm(term):
            return {"term": {indexed_field("sentence", term): term}}
        case HasWords((word,), field):
            return {"term": {WORDS_FIELD[field]: word}}
        case HasWords(words, field):
            # No word contains a space.
            return {
                "match_phrase": {WORDS_FIELD[field]: {"query": " ".join(words), "analyzer": "whitespace"}}
            }
        case HasPrefix(prefix, field):
            return {"prefix": {WORDS_FIELD[field]: prefix}}
        case HasEntity(keys):
            return names_clause(keys)
        case HasQuote():
            return quotes_clause()
        case SaidBy(keys, probable):
            return quotes_clause(list(map(name_key, keys)), probable)
        case HasSource(forms):
            return sources_clause(forms)
        case HasAttribute():
            return attribute_clause(condition)
        case HasLanguage(language):
            exactly = {"value": language, "case_insensitive": True}
            variety = {"value": f"{language}-", "case_insensitive": True}
            either = [{"term": {"language": exactly}}, {"prefix": {"language": variety}}]
            return {"bool": {"should": either, "minimum_should_match": 1}}
        case DateRange(start, end):
            return date_clause(start, end)


def document_query(condition: Condition) -> Query | None:
    """Matches the documents that may have sentences which satisfy the condition; None if any document may."""
    match condition:
        case AllOf(parts):
            queries = [query for part in parts if (query := document_query(part)) is not None]
            return {"bool": {"filter": queries}} if queries else None
        case AnyOf(parts):
            queries = [query for part in parts if (query := document_query(part)) is not None]
            any_query = {"bool": {"should": queries, "minimum_should_match": 1}}
            return any_query if len(queries) == len(parts) else None
        case HasTerm(term):
            return {"term": {"context": term}}
        case HasSource() | HasAttribute() | HasLanguage() | DateRange():
            return condition_query(condition)
        case Not(HasSource() | HasAttribute() | HasLanguage() | DateRange()):
            return condition_query(condition)
        case _:
            return None


def candidate_query(plan: Plan, filters: Filters) -> Query:
    """Matches the candidates of a plan."""
    clauses = [rule_clause(plan), *filter_clauses(filters), *condition_clauses(plan)]
    return {"bool": {"filter": clauses, **_exclude_termless(plan)}}


def _exclude_termless(plan: Plan, collection: CollectionStatistics | None = None) -> Query:
    """The part of a `bool` query that excludes sentences without a term, if the plan needs one.

    It is not among the filters, which other applications replace by theirs. Of a `collection` without such
    sentences, none is excluded: that would be checked for each candidate.
    """
    has_none = plan.candidates == "matching" or (collection is not None and not collection.termless_sentences)
    return {} if has_none or not plan.needs_term else {"must_not": [WITHOUT_TERM]}


def scored_candidate_query(plan: Plan, filters: Filters) -> Query:
    """Matches the candidates that have a score, given the values that the plan requires."""
    query = candidate_query(plan, filters)
    query["bool"]["filter"] += required_value_clauses(plan)
    return query


def has_document_level_candidates(plan: Plan, collection: CollectionStatistics, filters: Filters) -> bool:
    """Whether in each document either all sentences or none are candidates with a score."""
    by_document = plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")
    is_any_left_out = (
        filters.entities or filters.independent or plan.condition is not None or required_value_clauses(plan)
    )
    return by_document and not is_any_left_out and not _exclude_termless(plan, collection)


def document_rule_clause(plan: Plan) -> Query:
    """Matches the documents that can have candidates by the plan's rule."""
    if plan.candidates == "all":
        return {"match_all": {}}
    return {"terms": {"context": list(plan.candidate_terms)}}


def rule_clause(plan: Plan) -> Query:
    """Matches the sentences that the plan's rule makes candidates."""
    if plan.candidates == "all":
        return {"match_all": {}}
    terms = plan.candidate_terms
    name: FieldName = "sentence" if plan.candidates == "matching" else plan.context
    return {"terms": {indexed_field(name, next(iter(terms), "")): list(terms)}}


def condition_clauses(plan: Plan) -> list[Query]:
    """Clauses for the sentences that satisfy the plan's condition."""
    return [] if plan.condition is None else [condition_query(plan.condition)]


def required_value_clauses(plan: Plan) -> list[Query]:
    """Clauses for the sentences with the values that the plan requires."""
    return [
        {"range": {static_score.column: {"gt": exclusive_minimum(static_score)}}}
        for static_score in plan.static_scores
        if static_score.form == "log" and static_score.required
    ]


class TermRange(NamedTuple):
    """A range of the number of distinct terms near a sentence: at least `least`, and fewer than `below`."""

    least: int
    below: int


class DocumentPart(NamedTuple):
    """The sentences of some documents with a number of a plan's terms near them."""

    ids: Sequence[str]
    terms: TermRange


_MOST_CLAUSES = 1000
"""Number of clauses in a query that every server takes, with room for filters: they take 1,024 or more."""
_MOST_FIELDS = len(INDEXED_FIELD)


def group_parts(term_count: int, parts: Iterable[DocumentPart]) -> Iterator[list[DocumentPart]]:
    """Yield the parts in groups for `part_clause`, so that no query with its scores has too many clauses."""
    group: list[DocumentPart] = []
    most = left = _MOST_CLAUSES - _MOST_FIELDS * term_count
    for part in parts:
        numbers = (number for number in part.terms if 0 < number <= term_count)
        clauses = 1 + sum(1 if number == 1 else term_count for number in numbers)
        if group and clauses > left:
            yield group
            group, left = [], most
        group.append(part)
        left -= clauses
    if group:
        yield group


def part_clause(terms: Sequence[str], near: FieldName, parts: Iterable[DocumentPart]) -> Query:
    """Matches the sentences of these parts. `near` is the field that contains the terms near a sentence."""
    has_term = [{"term": {indexed_field(near, term): term}} for term in terms]

    def has_terms(least: int) -> Query:
        if least == 1:  # one clause
            return {"terms": {indexed_field(near, terms[0]): list(terms)}}
        return {"bool": {"should": has_term, "minimum_should_match": least}}

    clauses: list[Query] = []
    for ids, (least, below) in parts:
        of_documents: Query = {"terms": {"document_id": list(ids)}}
        conditions: Query = {"filter": [of_documents, *([has_terms(least)] if least else [])]}
        if below <= len(terms):
            conditions["must_not"] = [has_terms(below)]
        clauses.append({"bool": conditions})
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


# Scores


def mixture_numbers(
    transform: Mixture,
    term: PlanTerm,
    sentence: Iterable[float],
    window: Iterable[float],
    document: Iterable[float],
) -> list[float]:
    """The numbers of a mixture's term that esr-mixture-list-v1 and the scripts of bounds have in common.

    Each script needs one more. A list is faster for scripts to read than names. The last three
    have two numbers: the share of a field at beta = 0, and its slope in beta.
    """
    numbers = [transform.mu, term.background, term.weight, *transform.collection]
    return [*numbers, *sentence, *window, *document]


MIXTURE_SCRIPT, SATURATION_SCRIPT, SCORE_SCRIPT = "esr-mixture-v2", "esr-saturation-v1", "esr-score-v2"
MIXTURE_LIST_SCRIPT, LENGTH_LIST_SCRIPT = "esr-mixture-list-v1", "esr-length-list-v1"
_LENGTH_FIELD: dict[FieldName, str] = {
    "sentence": "length",
    "surrounding": "surrounding_length",
    "document": "document_length",
}
_FORM_PARAMS: dict[StaticScoreForm, tuple[str, ...]] = {"log": ("shift",), "satu": ("k",), "sigm": ("k", "a")}
"""The parameters of the forms that have parameters."""


class ScoreQuery(NamedTuple):
    """A query, and the shift from its scores to those of the formula."""

    query: Query
    shift: float


def score_query(
    plan: Plan,
    collection: CollectionStatistics,
    filters: Filters,
    *,
    standalone: bool = False,
    is_own: bool = False,
    within: Query | None = None,
) -> ScoreQuery:
    """The query of a plan. `within` restricts it to candidates that also match this clause.

    `standalone` leaves p(t|C) to the engine's own statistics (`_termStats`), so that the query depends only
    on its terms and the collection's length. It requires `search_type=dfs_query_then_fetch`, and exists for
    mixtures only. `is_own`: only esr reads the query, so that its parameters can be lists, which is faster.
    """
    nested = _nested_fields(plan)
    clauses = [_term_clause(plan, term, nested, collection, standalone, is_own) for term in plan.terms]
    filter = filter_clauses(filters) + condition_clauses(plan) + required_value_clauses(plan)
    filter += [] if within is None else [within]
    if _terms_match_candidates(plan, nested):
        minimum = 1
    else:
        minimum = 0
        filter.append(rule_clause(plan))
    query: Query = {"bool": {"should": clauses, "minimum_should_match": minimum, "filter": filter}}
    query["bool"] |= _exclude_termless(plan, collection if is_own else None)
    offset = _offset(plan, collection)
    transform = plan.transform
    params: dict[str, Any] = {"query": 0, "mu": 0, "collection": [1, 0]}
    shift = -offset
    if isinstance(transform, Mixture):
        params = {"query": plan.query_weight, "mu": transform.mu, "collection": list(transform.collection)}
        shift += math.fsum(term.weight * math.log(term.background) for term in plan.terms if term.own)
    else:
        shift += math.fsum(term.weight * _limit(transform) for term in plan.terms if term.weight < 0)
    params |= {
        "statics": [_static_score_params(static_score) for static_score in plan.static_scores],
        "offset": offset,
    }
    script = {"id": SCORE_SCRIPT, "params": params}
    if is_own and not plan.static_scores:
        numbers = [offset, params["query"], params["mu"], *params["collection"]]
        script = {"id": LENGTH_LIST_SCRIPT, "params": {"numbers": numbers}}
    return ScoreQuery({"script_score": {"query": query, "script": script}}, shift)


def _nested_fields(plan: Plan) -> list[FieldName]:
    """The fields in which to look for a term, each inside the next. The sentence is always one of them."""
    used = set(plan.transform.fields()) | {"sentence"}
    if plan.candidates == "context":
        used.add(plan.context)
    return [name for name in INDEXED_FIELD if name in used]


def _terms_match_candidates(plan: Plan, nested: list[FieldName]) -> bool:
    """Whether the clauses of the terms alone match exactly the candidates."""
    by_rule = {"matching": len(nested) == 1, "context": nested[-1] == plan.context, "all": False}
    never_negative = all(term.weight >= 0 for term in plan.terms)
    return never_negative and by_rule[plan.candidates] and len(plan.candidate_terms) == len(plan.terms)


def _term_clause(
    plan: Plan,
    term: PlanTerm,
    nested: list[FieldName],
    collection: CollectionStatistics,
    standalone: bool,
    is_own: bool,
) -> Query:
    in_fields = [{"term": {indexed_field(name, term.term): term.term}} for name in nested]
    # A term in any field is also in the outermost one. The inner clauses provide counts.
    query: Query = {"bool": {"must": in_fields[-1:], "should": in_fields[:-1]}}
    if term.weight < 0:
        # A sentence without the term gets the whole shift, so every sentence must match.
        query = {"bool": {"should": in_fields, "must": [{"match_all": {}}]}}
    transform = plan.transform
    unused = [0, 0] if isinstance(transform, Mixture) else [0, 0, 1]
    # `own` is the sentence, `wide` the outermost other field, `middle` the field between.
    roles = {"own": nested[0], "wide": nested[-1] if len(nested) > 1 else None}
    roles["middle"] = nested[1] if len(nested) > 2 else None
    params: dict[str, Any] = {
        role: list(getattr(transform, name)) if name else unused for role, name in roles.items()
    }
    wide_length = _LENGTH_FIELD[nested[-1]]
    if isinstance(transform, Mixture) and is_own:
        script = MIXTURE_LIST_SCRIPT
        params = {
            "numbers": [
                *mixture_numbers(transform, term, params["own"], params["middle"], params["wide"]),
                wide_length,
            ]
        }
    elif isinstance(transform, Mixture):
        script = MIXTURE_SCRIPT
        params |= {"wide_length": wide_length, "mu": transform.mu, "collection": list(transform.collection)}
        params |= {"background": term.background, "occurrences": collection.occurrences}
        params |= {"standalone": standalone, "weight": term.weight}
    else:
        script = SATURATION_SCRIPT
        params |= {"wide_length": wide_length, "weight": term.weight}
        params |= {"k1": -1 if transform.k1 is None else transform.k1}
    return {"script_score": {"query": query, "script": {"id": script, "params": params}}}


def _limit(transform: Saturation) -> float:
    """The upper limit of a saturation's curve."""
    assert transform.k1 is not None, "only BM25 has negative weights"
    return transform.k1 + 1.0


def _static_score_params(static_score: StaticScore) -> dict[str, Any]:
    """A static score as the script reads it, with the parameters of its form only."""
    names = ("column", "form", "weight", "constant", *_FORM_PARAMS.get(static_score.form, ()))
    return {name: getattr(static_score, name) for name in names} | (
        asdict(static_score.curve) if static_score.curve else {}
    )


def _offset(plan: Plan, collection: CollectionStatistics) -> float:
    """The offset that keeps every score above 0, since Elasticsearch rejects negative scores.

    Raises EsrError if the static scores add more than 32-bit scores can resolve.
    """
    lowest = 0.0
    transform = plan.transform
    if isinstance(transform, Mixture):
        mu, (constant, slope) = transform.mu, transform.collection
        betas = (mu / (collection.longest_sentence + mu), 1.0) if mu else (0.0, 0.0)
        lowest += plan.query_weight * math.log(min(constant + slope * beta for beta in betas))
    for static_score in plan.static_scores:
        low, high = static_bounds(static_score, collection)
        if low < -GREATEST_OFFSET or high > GREATEST_SCORE:
            raise EsrError(
                f"{static_score.column} adds from {low:g} to {high:g}, more than the 32-bit scores of "
                "Elasticsearch can resolve: lower its weight, or use the form satu or log"
            )
        lowest += low
    return max(0.0, -lowest)


RECORD_FIELDS = list(SentenceRecord._fields)
SORT: list[dict[str, str]] = [{"_score": "desc"}, {"ordinal": "asc"}]


def search_body(
    plan: Plan, collection: CollectionStatistics, filters: Filters, k: int, *, standalone: bool = False
) -> dict[str, Any]:
    """The body for `_search`. Raises UsageError for a standalone query of a model that has none."""
    if not plan.terms:
        raise UsageError("no document contains a term of the query: there is nothing to search for")
    if standalone and not isinstance(plan.transform, Mixture):
        raise UsageError("--standalone is for language models: other models need more than p(t|C)")
    query = score_query(plan, collection, filters, standalone=standalone).query
    return {"query": query, "size": k, "sort": SORT, "_source": RECORD_FIELDS}


Amount = Literal["bound", "far", "lift"]
"""The most that a term adds: to any sentence, to one far from the term, and the increment if near it."""
_MIXTURE_BOUND_SCRIPTS: Mapping[Amount, str] = {
    "bound": "esr-mixture-bound-v2",
    "far": "esr-mixture-far-v1",
    "lift": "esr-mixture-lift-v1",
}
_SATURATION_BOUND_SCRIPTS: Mapping[Amount, str] = {
    "bound": "esr-saturation-bound-v1",
    "far": "esr-saturation-far-v1",
    "lift": "esr-saturation-lift-v1",
}
BASE_SCRIPT = "esr-base-v2"
SCRIPTS = (
    *(MIXTURE_SCRIPT, SATURATION_SCRIPT, SCORE_SCRIPT, MIXTURE_LIST_SCRIPT, LENGTH_LIST_SCRIPT),
    *_MIXTURE_BOUND_SCRIPTS.values(),
    *_SATURATION_BOUND_SCRIPTS.values(),
    BASE_SCRIPT,
)
"""All stored scripts of plans."""
_ROLES: dict[str, FieldName] = {"own": "sentence", "middle": "surrounding", "wide": "document"}
_ROUNDING = 1e-6
"""More than the relative error of one operation on 32-bit scores."""
_MANY_TERMS = 100
"""Number of terms above which there is no query for `impact`, since the clauses of a request are limited."""


_bound = lru_cache(64)(Bound)
"""Cached, since transforms are few and queries many."""


class BoundQuery(NamedTuple):
    """A query whose scores plus `shift` are upper bounds of documents or sentences, except for rounding.

    A sentence with the score s, and its document, have a bound of at least s - rounding_margin * (1 + |s|).
    """

    query: Query
    shift: float
    rounding_margin: float

    def least_bound(self, score: float) -> float:
        """The least bound that a sentence of this score can have."""
        return score - self.rounding_margin * (1 + abs(score))


def bound_query(plan: Plan, collection: CollectionStatistics, filters: Filters) -> BoundQuery | Unprunable:
    """The query that bounds the sentences of each document, or the reason why there is none."""
    bound = _bound(plan.transform, collection.longest_sentence)
    reason = bound.unavailable_reason(plan.terms)
    if reason is not None:
        return Unprunable(reason)
    if collection.longest_sentence > GREATEST_LENGTH:
        return Unprunable(f"a sentence has more than {GREATEST_LENGTH:,} terms")
    return _with_rest(plan, collection, _term_sum(plan, filters))


def _with_rest(plan: Plan, collection: CollectionStatistics, query: Query) -> BoundQuery:
    """Add the bounds of the other parts of scores to a query for the sum over terms."""
    ranges = [static_bounds(static_score, collection) for static_score in plan.static_scores]
    shift, magnitude = math.fsum(high for _, high in ranges), 1.0
    transform = plan.transform
    if isinstance(transform, Mixture):
        constants = [term.weight * math.log(term.background) for term in plan.terms if term.own]
        numbers, offset = _base_numbers(plan, transform, collection)
        script = {"id": BASE_SCRIPT, "params": {"numbers": numbers}}
        query = {"script_score": {"query": query, "script": script}}
        constants.append(-offset)
        shift += math.fsum(constants)
        magnitude += sum(map(abs, constants))
    magnitude += sum(sum(map(abs, range)) for range in ranges)
    return BoundQuery(query, shift, rounding_margin(plan, magnitude))


def rounding_margin(plan: Plan, magnitude: float) -> float:
    """The rounding margin of a query, given the sum of the absolute values added to its scores."""
    return _ROUNDING * (len(plan.terms) + 4) * magnitude


class NearQueries(NamedTuple):
    """Queries that bound the sentences of a document by the number of terms near them.

    The score of a sentence with n of the terms near it is at most `far` + n `impact`. `field` is the field
    that contains these terms. `impact` is None if unknown.
    """

    far: BoundQuery
    impact: Query | None
    field: FieldName

    def impact_per_term(self, scores: Array) -> Array:
        """The impacts of documents, given their scores of the query `impact`."""
        return scores * (1 + _ROUNDING)


def near_queries(plan: Plan, collection: CollectionStatistics) -> NearQueries:
    """The queries of a plan that has bounds. `far` matches every document."""
    clauses = [_bound_clause(plan, term, "far") for term in plan.terms]
    query: Query = {"bool": {"should": clauses, "filter": [{"match_all": {}}]}}
    impact: Query | None = None
    if 0 < len(plan.terms) <= _MANY_TERMS:
        impact = {"dis_max": {"queries": [_bound_clause(plan, term, "lift") for term in plan.terms]}}
    field: FieldName = "surrounding" if "surrounding" in plan.transform.fields() else "sentence"
    return NearQueries(_with_rest(plan, collection, query), impact, field)


def _term_sum(plan: Plan, filters: Filters) -> Query:
    """A query that scores the documents that may have candidates by the sum of the terms' bounds."""
    clauses = [_bound_clause(plan, term) for term in plan.terms]
    filter = filter_clauses(filters, of="documents")
    of_condition = None if plan.condition is None else document_query(plan.condition)
    filter += [] if of_condition is None else [of_condition]
    # If every term makes candidates, the clauses match exactly the documents that can have candidates.
    terms_match_candidates = plan.candidates != "all" and len(plan.candidate_terms) == len(plan.terms)
    if not terms_match_candidates:
        filter.append(document_rule_clause(plan))
    return {
        "bool": {"should": clauses, "minimum_should_match": int(terms_match_candidates), "filter": filter}
    }


def _bound_clause(plan: Plan, term: PlanTerm, amount: Amount = "bound") -> Query:
    """A query for the bound of a term in a document. Its script reads the weight of the term maxima.

    The clause on `context` adds nothing to the score; it provides the count.
    """
    count: Query = {"term": {"context": {"value": term.term, "boost": 0}}}
    query = {"bool": {"should": [{"term": {MAXIMA_FIELD: term.term}}, count]}}
    transform = plan.transform
    params: dict[str, Any] = {role: list(getattr(transform, name)) for role, name in _ROLES.items()}
    if isinstance(transform, Mixture):
        script = _MIXTURE_BOUND_SCRIPTS[amount]
        params = {
            "numbers": [
                *mixture_numbers(transform, term, params["own"], params["middle"], params["wide"]),
                not term.own,
            ]
        }
    else:
        script = _SATURATION_BOUND_SCRIPTS[amount]
        params |= {"weight": term.weight, "k1": -1 if transform.k1 is None else transform.k1}
    if amount == "far":
        query = count
    return {"script_score": {"query": query, "script": {"id": script, "params": params}}}


def _base_numbers(
    plan: Plan, transform: Mixture, collection: CollectionStatistics
) -> tuple[list[float], float]:
    """The parameters of esr-base-v2, and the offset among them, which keeps scores above 0."""
    weights = [term.weight for term in plan.terms if term.own]
    positive = math.fsum(weight for weight in weights if weight > 0)
    negative = math.fsum(weight for weight in weights if weight <= 0)
    constant, slope = transform.collection
    log_collection = [math.log(constant + slope * beta) for beta in _beta_range(transform, collection)]
    lowest = positive * min(log_collection) + negative * max(log_collection)
    offset = max(0.0, -lowest)
    return [transform.mu, constant, slope, offset, positive, negative], offset


def _beta_range(transform: Mixture, collection: CollectionStatistics) -> tuple[float, float]:
    """beta of an empty sentence and of the collection's longest one."""
    mu = transform.mu
    return (1.0, mu / (collection.longest_sentence + mu)) if mu else (0.0, 0.0)


MOST_TERMS = 100
"""Number of terms above which searches by documents are faster. The clauses of a request are limited, too."""
GREATEST_SLACK = 1.0
"""Slack per term above which too many bounds reach the last hit, and searches by documents are faster."""
_GREATEST_WEIGHT = 16.0
"""Sum of weights above which boosts would be too great for 32 bits."""


def sentence_bounds(plan: Plan, filters: Filters, slack: Slack) -> BoundQuery | None:
    """The query that bounds sentences, or None if the plan has none. It may also match non-candidates.

    The plan has terms. `slack` is the base and slack of the impacts. Plans with priors or features have no
    such query: too many bounds would reach the last hit.
    """
    weight = math.fsum(term.weight for term in plan.terms)
    transform = plan.transform
    if plan.static_scores or not isinstance(transform, Mixture):
        return None
    if weight > _GREATEST_WEIGHT or len(plan.terms) > MOST_TERMS:
        return None
    if slack.mean(plan.terms) > GREATEST_SLACK:
        return None
    clauses = [_impact_clause(EMPTY, weight)]
    constants = [weight * slack.base.log_collection]
    for term in plan.terms:
        far = math.log1p(slack.base.scale / term.background) + slack.slack_for(term.term)
        has_term = {"term": {"context": term.term}}
        clauses.append(_impact_clause(term.term, term.weight))
        clauses.append({"constant_score": {"filter": has_term, "boost": term.weight * far}})
        constants.append(term.weight * math.log(term.background))
    filter = [*filter_clauses(filters), *condition_clauses(plan)]
    if (plan.candidates, plan.context) != ("context", "document"):
        filter.append(rule_clause(plan))
    least = 0 if plan.candidates == "all" else 1
    query: Query = {"bool": {"should": clauses, "minimum_should_match": least, "filter": filter}}
    return BoundQuery(query, math.fsum(constants), rounding_margin(plan, 1 + sum(map(abs, constants))))


def _impact_clause(term: str, weight: float) -> Query:
    """A clause that scores the impact of the term, times the weight."""
    return {"term": {IMPACTS_FIELD: {"value": term, "boost": weight * IMPACT_BOOST}}}


def with_named_scores(query: Query, others: Mapping[str, Query]) -> Query:
    """A query with the matches and ranking of `query`. Its hits also have the scores of `others`, by name."""
    # An optional clause of a filter does not affect matches, so it is not run for them. But since it has a
    # name, Elasticsearch scores the returned hits by it.
    named = [{"bool": {"should": [other], "_name": name}} for name, other in others.items()]
    optional = {"bool": {"filter": [{"match_all": {}}], "should": named}}
    return {"bool": {"must": [query], "filter": [optional]}}
