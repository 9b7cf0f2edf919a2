"""Counts candidates by the values of several fields, all in one search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import search
from esr.engines.elasticsearch.search.candidate_query import candidate_query
from esr.engines.elasticsearch.search.filter_clauses import Query, filter_clauses
from esr.engines.index import FACET_FIELDS, NO_FILTERS, FacetCounts, Filters
from esr.errors import unknown
from esr.plans.plan import Plan

_SHARD_SIZE = 20_000
"""Values that each shard counts: facets are exact where no shard has more."""


def count_facets(
    cluster: Cluster, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
) -> dict[str, FacetCounts]:
    """The most frequent values of each field under its filters.

    The clauses that all fields share are part of the query, so that only those of one field alone are checked
    for each of its candidates.
    """
    for field in filters_by_field:
        if field not in FACET_FIELDS:
            raise unknown("facet", field, FACET_FIELDS)
    clauses = {field: filter_clauses(filters) for field, filters in filters_by_field.items()}
    first = next(iter(clauses.values()), [])
    shared = [clause for clause in first if all(clause in of_field for of_field in clauses.values())]
    query = candidate_query(plan, NO_FILTERS)
    query["bool"]["filter"] += shared
    aggs = {
        field: _aggregation(field, [clause for clause in of_field if clause not in shared], size)
        for field, of_field in clauses.items()
    }
    answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs)
    return {field: _values(answer["aggregations"][field], size) for field in filters_by_field}


def _aggregation(field: str, filter: list[Query], size: int) -> dict[str, Any]:
    values: dict[str, Any]
    if field == "month":
        months = {"field": "date", "calendar_interval": "month", "format": "yyyy-MM", "min_doc_count": 1}
        values = {"date_histogram": months}
    else:
        name = field if field == "source" else f"entities.{field}"
        values = {"terms": {"field": name, "size": size, "shard_size": max(size, _SHARD_SIZE)}}
    # A filter that lets everything pass would be checked for each candidate: that took half as long again.
    return {"filter": {"bool": {"filter": filter}}, "aggs": {"values": values}} if filter else values


def _values(answer: Mapping[str, Any], size: int) -> FacetCounts:
    buckets = answer.get("values", answer)["buckets"]
    values = [(bucket.get("key_as_string", bucket["key"]), bucket["doc_count"]) for bucket in buckets]
    return sorted(values, key=lambda value: (-value[1], value[0]))[:size]  # months come in their order
