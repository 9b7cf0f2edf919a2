"""The queries that match a plan's candidates, without scores."""

from __future__ import annotations

from esr.engines.elasticsearch.search.condition_query import condition_query
from esr.engines.elasticsearch.search.filter_clauses import Query, filter_clauses
from esr.engines.elasticsearch.store.static_bounds import exclusive_minimum
from esr.engines.index import Filters
from esr.plans.plan import FieldName, Plan

INDEXED_FIELD: dict[FieldName, str] = {
    "sentence": "text",
    "surrounding": "surrounding",
    "document": "context",
}
"""The indexed field of each field of a plan, from the innermost to the outermost."""


def candidate_query(plan: Plan, filters: Filters) -> Query:
    """Matches the candidates of a plan."""
    return {"bool": {"filter": [rule_clause(plan), *filter_clauses(filters), *condition_clauses(plan)]}}


def scored_candidate_query(plan: Plan, filters: Filters) -> Query:
    """Matches the candidates for which a plan has a score."""
    query = candidate_query(plan, filters)
    query["bool"]["filter"] += required_value_clauses(plan)
    return query


def has_document_level_candidates(plan: Plan, filters: Filters) -> bool:
    """Whether a document's sentences are candidates with a score all together, or none of them."""
    by_document = plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")
    is_any_left_out = filters.entities or plan.condition is not None or required_value_clauses(plan)
    return by_document and not is_any_left_out


def document_rule_clause(plan: Plan) -> Query:
    """Matches the documents that can have candidates by the plan's rule."""
    if plan.candidates == "all":
        return {"match_all": {}}
    return {"terms": {"context": list(plan.candidate_terms)}}


def rule_clause(plan: Plan) -> Query:
    """Matches what the plan's rule makes candidates."""
    if plan.candidates == "all":
        return {"match_all": {}}
    field = "text" if plan.candidates == "matching" else INDEXED_FIELD[plan.context]
    return {"terms": {field: list(plan.candidate_terms)}}


def condition_clauses(plan: Plan) -> list[Query]:
    """Match the sentences that satisfy the plan's condition."""
    return [] if plan.condition is None else [condition_query(plan.condition)]


def required_value_clauses(plan: Plan) -> list[Query]:
    """Match the sentences that have the values which the plan requires."""
    return [
        {"range": {static.column: {"gt": exclusive_minimum(static)}}}
        for static in plan.statics
        if static.form == "log" and static.required
    ]
