"""Filters as queries, without scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from esr.engines.elasticsearch.store.names import ALL_KEYS
from esr.engines.elasticsearch.store.values import attribute_field
from esr.engines.index import Filters
from esr.engines.keys import name_key
from esr.plans.condition import HasAttribute

Query = dict[str, Any]


def filter_clauses(filters: Filters, of: Literal["sentences", "documents"] = "sentences") -> list[Query]:
    """Match sentences that pass the filters, or documents that may have such sentences. Filters are resolved.

    The index of documents does not have entities.
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
    return clauses


def date_clause(start: int | None, end: int | None) -> Query:
    """Matches what is of these milliseconds since the epoch, both ends included."""
    ends = {"gte": start, "lte": end}
    date_range = {key: value for key, value in ends.items() if value is not None}
    return {"range": {"date": {**date_range, "format": "epoch_millis"}}}


def sources_clause(forms: Sequence[str]) -> Query:
    """Matches what has one of these sources, as written (`resolve_source`)."""
    return {"terms": {"source": list(forms)}}


def attribute_clause(wanted: HasAttribute) -> Query:
    """Matches what has one of the values, as written (`resolve_attribute`)."""
    fields = [{"terms": {attribute_field(name): list(wanted.values)}} for name in wanted.names]
    if len(fields) == 1:
        return fields[0]
    return {"bool": {"should": fields, "minimum_should_match": 1}} if fields else {"match_none": {}}


def names_clause(names: Sequence[str]) -> Query:
    """Matches sentences with one of these names, each a key (`resolve_name`) or any form with that key."""
    return {"terms": {ALL_KEYS: list(map(name_key, names))}}
