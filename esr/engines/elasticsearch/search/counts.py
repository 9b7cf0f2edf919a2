"""Counts sentences that satisfy conditions, all in one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import msearch
from esr.engines.elasticsearch.search.condition_query import condition_query
from esr.engines.elasticsearch.search.filter_clauses import filter_clauses
from esr.engines.index import Filters
from esr.plans.condition import Condition


def count_sentences(cluster: Cluster, conditions: Sequence[Condition], filters: Filters) -> list[int]:
    """How many sentences satisfy each condition and the filters."""
    if not conditions:
        return []
    lines: list[dict[str, Any]] = []
    for condition in conditions:
        query = {"bool": {"filter": [condition_query(condition), *filter_clauses(filters)]}}
        lines += [{"index": cluster.alias}, {"query": query, "size": 0, "track_total_hits": True}]
    return [answer["hits"]["total"]["value"] for answer in msearch(cluster, lines)]
