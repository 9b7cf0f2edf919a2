"""Filters as queries, without scores."""

from __future__ import annotations

from typing import Any, Literal

from esr.engines.entities import parse_entity_filter
from esr.engines.index import Filters

Query = dict[str, Any]


def filter_clauses(filters: Filters, of: Literal["sentences", "documents"] = "sentences") -> list[Query]:
    """Match sentences that pass the filters, or documents that may have such sentences.

    The index of documents does not have entities.
    """
    clauses: list[Query] = []
    if filters.date_from is not None or filters.date_to is not None:
        clauses.append(date_clause(filters.date_from, filters.date_to))
    if filters.sources:
        clauses.append(source_clause(filters.sources))
    if filters.documents:
        clauses.append({"terms": {"document_id": list(filters.documents)}})
    if filters.entities and of == "sentences":
        clauses.append(entity_clause(filters.entities))
    return clauses


def date_clause(start: int | None, end: int | None) -> Query:
    """Matches what is of these milliseconds since the epoch, both ends included."""
    ends = {"gte": start, "lte": end}
    date_range = {key: value for key, value in ends.items() if value is not None}
    return {"range": {"date": {**date_range, "format": "epoch_millis"}}}


def source_clause(sources: tuple[str, ...]) -> Query:
    """Matches what is from one of these sources."""
    return {"terms": {"source": list(sources)}}


def entity_clause(names: tuple[str, ...]) -> Query:
    """Matches sentences that name one of these entities, named as `Filters.entities` names them."""
    entities = [entity for name in names for entity in parse_entity_filter(name)]
    any_of = [{"term": {f"entities.{entity.type}": entity.text}} for entity in entities]
    return {"bool": {"should": any_of, "minimum_should_match": 1}}
