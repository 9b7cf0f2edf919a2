"""Parts of documents, as a query for their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from esr.engines.elasticsearch.search.candidate_query import INDEXED_FIELD
from esr.engines.elasticsearch.search.filter_clauses import Query
from esr.plans.plan import Plan


class DocumentParts(NamedTuple):
    """Ids of documents: of all sentences, of those that contain a term of the plan, and of the others."""

    whole: Sequence[str]
    with_terms: Sequence[str]
    termless: Sequence[str]


def part_clause(plan: Plan, parts: DocumentParts) -> Query:
    """Matches the sentences of these parts."""
    has_term = {"terms": {INDEXED_FIELD["sentence"]: [term.term for term in plan.terms]}}
    clauses: list[Query] = []
    if parts.whole:
        clauses.append(_of_documents(parts.whole))
    if parts.with_terms:
        clauses.append({"bool": {"filter": [_of_documents(parts.with_terms), has_term]}})
    if parts.termless:
        clauses.append({"bool": {"filter": [_of_documents(parts.termless)], "must_not": [has_term]}})
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


def _of_documents(ids: Sequence[str]) -> Query:
    return {"terms": {"document_id": list(ids)}}
