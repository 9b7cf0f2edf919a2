"""Parts of documents, as a query for their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from esr.engines.elasticsearch.search.candidate_query import INDEXED_FIELD
from esr.engines.elasticsearch.search.filter_clauses import Query
from esr.plans.plan import FieldName


class TermRange(NamedTuple):
    """So many different terms near a sentence: at least `least`, and fewer than `below`."""

    least: int
    below: int


class DocumentPart(NamedTuple):
    """Of some documents, the sentences with so many of a plan's terms near them."""

    ids: Sequence[str]
    terms: TermRange


def part_clause(terms: Sequence[str], near: FieldName, parts: Iterable[DocumentPart]) -> Query:
    """Matches the sentences of these parts. `near` is the field that contains the terms near a sentence."""
    has_term = [{"term": {INDEXED_FIELD[near]: term}} for term in terms]

    def has_terms(least: int) -> Query:
        return {"bool": {"should": has_term, "minimum_should_match": least}}

    clauses: list[Query] = []
    for ids, (least, below) in parts:
        of_documents: Query = {"terms": {"document_id": list(ids)}}
        conditions: Query = {"filter": [of_documents, *([has_terms(least)] if least else [])]}
        if below <= len(terms):
            conditions["must_not"] = [has_terms(below)]
        clauses.append({"bool": conditions})
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}
