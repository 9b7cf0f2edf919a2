"""A plan as an Elasticsearch query, one script per term and one over their sum; the body for `_search`.

The sources of scripts are constant and stored, and all variables are in `params`, so that scripts are
compiled once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec.structs import asdict

from esr.elastic.fields import INDEXED_FIELD, indexed_field
from esr.elastic.search.filters import (
    Query,
    condition_clauses,
    filter_clauses,
    required_value_clauses,
    rule_clause,
)
from esr.elastic.statistics import GREATEST_OFFSET, GREATEST_SCORE, static_bounds
from esr.errors import EsrError, UsageError
from esr.index.filters import Filters
from esr.index.hits import SentenceRecord
from esr.plans.plan import (
    CollectionStatistics,
    FieldName,
    Mixture,
    Plan,
    PlanTerm,
    Saturation,
    StaticScore,
    StaticScoreForm,
)


def mixture_numbers(
    transform: Mixture,
    term: PlanTerm,
    own: Iterable[float],
    middle: Iterable[float],
    wide: Iterable[float],
) -> list[float]:
    """The numbers of a mixture's term for esr-mixture-list-v1 and the scripts of bounds; each needs one more.

    A list is faster for scripts to read than names. `own`, `middle` and `wide` are two numbers each: a
    field's share at beta = 0, and its slope in beta.
    """
    numbers = [transform.mu, term.background, term.weight, *transform.collection]
    return [*numbers, *own, *middle, *wide]


MIXTURE_SCRIPT, SATURATION_SCRIPT, SCORE_SCRIPT = "esr-mixture-v2", "esr-saturation-v1", "esr-score-v2"
MIXTURE_LIST_SCRIPT, LENGTH_LIST_SCRIPT = "esr-mixture-list-v1", "esr-length-list-v1"
SCRIPTS = (MIXTURE_SCRIPT, SATURATION_SCRIPT, SCORE_SCRIPT, MIXTURE_LIST_SCRIPT, LENGTH_LIST_SCRIPT)
_LENGTH_FIELD: dict[FieldName, str] = {
    "sentence": "length",
    "surrounding": "surrounding_length",
    "document": "document_length",
}
_FORM_PARAMS: dict[StaticScoreForm, tuple[str, ...]] = {"log": ("shift",), "satu": ("k",), "sigm": ("k", "a")}
"""The parameters of the forms that have some."""


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
    """Whether the clauses of the terms match exactly the candidates, without any other clause."""
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
        params = {"numbers": [*mixture_numbers(transform, term, **params), wide_length]}
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
    """The limit that the curve of a saturation stays below."""
    assert transform.k1 is not None, "only BM25 has negative weights"
    return transform.k1 + 1.0


def _static_score_params(static_score: StaticScore) -> dict[str, Any]:
    """A static score as the script reads it: with the parameters of its own form only."""
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
