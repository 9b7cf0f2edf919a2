"""The queries that match a plan's candidates, without scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from esr.engines.elasticsearch.store.names import ALL_KEYS
from esr.engines.elasticsearch.store.static_bounds import exclusive_minimum
from esr.engines.index import Filters
from esr.engines.keys import name_key
from esr.plans.plan import FieldName, Plan

INDEXED_FIELD: dict[FieldName, str] = {
    "sentence": "text",
    "surrounding": "surrounding",
    "document": "context",
}
"""The indexed field of each field of a plan, from the innermost to the outermost."""
Query = dict[str, Any]


def candidate_query(plan: Plan, filters: Filters) -> Query:
    """Matches the candidates of a plan."""
    return {"bool": {"filter": [rule_clause(plan), *filter_clauses(filters)]}}


def scored_candidate_query(plan: Plan, filters: Filters) -> Query:
    """Matches the candidates for which a plan has a score."""
    return {"bool": {"filter": [rule_clause(plan), *filter_clauses(filters), *required_value_clauses(plan)]}}


def has_document_level_candidates(plan: Plan, filters: Filters) -> bool:
    """Whether a document's sentences are candidates with a score all together, or none of them."""
    by_document = plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")
    return by_document and not filters.entities and not required_value_clauses(plan)


def rule_clause(plan: Plan) -> Query:
    """Matches what the plan's rule makes candidates."""
    if plan.candidates == "all":
        return {"match_all": {}}
    field = "text" if plan.candidates == "matching" else INDEXED_FIELD[plan.context]
    return {"terms": {field: list(plan.candidate_terms)}}


def required_value_clauses(plan: Plan) -> list[Query]:
    """Match the sentences that have the values which the plan requires."""
    return [
        {"range": {static.column: {"gt": exclusive_minimum(static)}}}
        for static in plan.statics
        if static.form == "log" and static.required
    ]


def filter_clauses(filters: Filters, of: Literal["sentences", "documents"] = "sentences") -> list[Query]:
    """Match sentences that pass the filters, or documents that may have such sentences. Filters are resolved.

    The index of documents does not have entities.
    """
    clauses: list[Query] = []
    if filters.date_from is not None or filters.date_to is not None:
        ends = {"gte": filters.date_from, "lte": filters.date_to}
        date_range = {key: value for key, value in ends.items() if value is not None}
        clauses.append({"range": {"date": {**date_range, "format": "epoch_millis"}}})
    if filters.sources:
        clauses.append(sources_clause(filters.sources))
    if filters.documents:
        clauses.append({"terms": {"document_id": list(filters.documents)}})
    if filters.entities and of == "sentences":
        clauses.append(names_clause(filters.entities))
    return clauses


def sources_clause(forms: Sequence[str]) -> Query:
    """Matches what has one of these sources, as written (`resolve_source`)."""
    return {"terms": {"source": list(forms)}}


def names_clause(names: Sequence[str]) -> Query:
    """Matches sentences with one of these names, each a key (`resolve_name`) or any form with that key."""
    return {"terms": {ALL_KEYS: list(map(name_key, names))}}
