"""Scores of what a query lists by other queries, beside its own."""

from __future__ import annotations

from collections.abc import Mapping

from esr.engines.elasticsearch.search.filter_clauses import Query


def with_named_scores(query: Query, others: Mapping[str, Query]) -> Query:
    """Matches and ranks as the query does. Of each hit, the other queries give scores by their names."""
    # An optional clause of a filter decides nothing, so it is not run for what matches. But it has a name, so
    # Elasticsearch scores the hits of the answer by it.
    named = [{"bool": {"should": [other], "_name": name}} for name, other in others.items()]
    optional = {"bool": {"filter": [{"match_all": {}}], "should": named}}
    return {"bool": {"must": [query], "filter": [optional]}}
