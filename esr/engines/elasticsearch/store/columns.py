"""Reads what the stored numbers of sentences are: the features, the range of values, the histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import ask, msearch_dfs
from esr.engines.elasticsearch.store.static_bounds import exclusive_minimum
from esr.plans.plan import Static

_PAGE = 10_000
Domain = tuple[str, float | None]
"""A column, and the number that values must exceed to count, if there is one."""


def column_domain(static: Static) -> Domain:
    """The values that a static can use."""
    return static.column, exclusive_minimum(static)


def read_value_ranges(
    cluster: Cluster, domains: Sequence[Domain]
) -> dict[Domain, tuple[float, float] | None]:
    """The least and the greatest value in each domain, None where it has no value."""
    aggs = {}
    for number, (column, minimum) in enumerate(domains):
        in_domain = {"match_all": {}} if minimum is None else {"range": {column: {"gt": minimum}}}
        extremes = {extreme: {extreme: {"field": column}} for extreme in ("min", "max")}
        aggs[str(number)] = {"filter": in_domain, "aggs": extremes}
    (answer,) = msearch_dfs(cluster, [(cluster.alias, {"size": 0, "aggs": aggs})])
    ranges: dict[Domain, tuple[float, float] | None] = {}
    for number, domain in enumerate(domains):
        extremes = answer["aggregations"][str(number)]
        low, high = extremes["min"]["value"], extremes["max"]["value"]
        ranges[domain] = None if low is None else (low, high)
    return ranges


def read_histogram(cluster: Cluster, column: str) -> dict[float, int]:
    """How many sentences have each value of a column, in rising order of values."""
    sources = [{"value": {"terms": {"field": column}}}]
    composite: dict[str, Any] = {"size": _PAGE, "sources": sources}
    histogram: dict[float, int] = {}
    while True:
        body = {"size": 0, "aggs": {"values": {"composite": composite}}}
        (answer,) = msearch_dfs(cluster, [(cluster.alias, body)])
        page = answer["aggregations"]["values"]
        for bucket in page["buckets"]:
            value = float(bucket["key"]["value"])  # 0.0 and -0.0 are two buckets
            histogram[value] = histogram.get(value, 0) + bucket["doc_count"]
        if len(page["buckets"]) < _PAGE:
            return histogram
        composite["after"] = page["after_key"]


def read_features(cluster: Cluster) -> list[str]:
    """The names of the features that an index of the alias has a field for."""
    with cluster.translate_errors():
        answer = ask(cluster, lambda: cluster.client.indices.get_mapping(index=cluster.alias))
    fields = [body["mappings"]["properties"].get("features", {}) for body in answer.values()]
    return sorted({name for field in fields for name in field.get("properties", {})})
