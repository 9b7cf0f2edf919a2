"""Counts of candidates by several fields of theirs, all of one search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.engines.elasticsearch.cluster.asking import search
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.search.request import Query, candidates, filter_clauses
from esr.engines.index import FACET_FIELDS, NO_FILTERS, FacetCounts, Filters
from esr.errors import unknown
from esr.plans.plan import Plan

_A_SHARD = 20_000
"""Values that each shard counts: facets are exact where no shard has more."""


def facets(
    cluster: Cluster, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
) -> dict[str, FacetCounts]:
    """The most frequent values of each field under its filters.

    The clauses that all fields share are part of the query, so that only those of one field alone are
    looked at for each of its candidates.
    """
    for field in filters_by_field:
        if field not in FACET_FIELDS:
            raise unknown("facet", field, FACET_FIELDS)
    clauses = {field: filter_clauses(filters) for field, filters in filters_by_field.items()}
    shared = [c for c in next(iter(clauses.values()), []) if all(c in own for own in clauses.values())]
    query = candidates(plan, NO_FILTERS)
    query["bool"]["filter"] += shared
    counted = {
        field: _counted(field, [c for c in own if c not in shared], size) for field, own in clauses.items()
    }
    answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=counted)
    return {field: _values(answer["aggregations"][field], size) for field in filters_by_field}


def _counted(field: str, own: list[Query], size: int) -> dict[str, Any]:
    counted: dict[str, Any]
    if field == "month":
        months = {"field": "date", "calendar_interval": "month", "format": "yyyy-MM", "min_doc_count": 1}
        counted = {"date_histogram": months}
    else:
        by = {"field": field if field == "source" else f"entities.{field}"}
        counted = {"terms": by | {"size": size, "shard_size": max(size, _A_SHARD)}}
    # A filter that lets all through would be looked at for each candidate: it took half as long again.
    return {"filter": {"bool": {"filter": own}}, "aggs": {"values": counted}} if own else counted


def _values(answer: Mapping[str, Any], size: int) -> FacetCounts:
    buckets = answer.get("values", answer)["buckets"]
    found = [(each.get("key_as_string", each["key"]), each["doc_count"]) for each in buckets]
    return sorted(found, key=lambda value: (-value[1], value[0]))[:size]  # months come in their order
