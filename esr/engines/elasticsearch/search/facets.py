"""Counts candidates by the values of several fields, all in one search where it can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import search
from esr.engines.elasticsearch.search.candidate_query import candidate_query
from esr.engines.elasticsearch.search.filter_clauses import Query, filter_clauses
from esr.engines.elasticsearch.search.name_facets import NameFacets
from esr.engines.elasticsearch.store.names import SHARD_SIZE, NameReader
from esr.engines.elasticsearch.store.values import ValueReader, attribute_field
from esr.engines.entities import ENTITY_TYPES
from esr.engines.filters import can_be_counted
from esr.engines.index import FACET_FIELDS, NO_FILTERS, FacetCounts, Filters
from esr.engines.resolve import attribute_names
from esr.engines.values import ValueTable
from esr.errors import unknown
from esr.plans.plan import Plan

Aggregations = dict[str, dict[str, Query]]
"""By field, what is counted for it, by names."""
_MOST_FORMS = 10_000
"""Written forms that are counted of a field where some differ in case alone."""
_MONTHS = {
    "date_histogram": {"field": "date", "calendar_interval": "month", "format": "yyyy-MM", "min_doc_count": 1}
}


def count_facets(
    cluster: Cluster,
    names: NameReader,
    values: ValueReader,
    plan: Plan,
    filters_by_field: Mapping[str, Filters],
    size: int,
) -> dict[str, FacetCounts]:
    """The most frequent values of each field under its filters.

    The clauses that all fields share are part of the query, so that only those of one field alone are checked
    for each of its candidates.
    """
    for field in filters_by_field:
        if not can_be_counted(field):
            raise unknown("facet", field, FACET_FIELDS)
    clauses = {field: filter_clauses(filters) for field, filters in filters_by_field.items()}
    first = next(iter(clauses.values()), [])
    shared = [clause for clause in first if all(clause in of_field for of_field in clauses.values())]
    query = candidate_query(plan, NO_FILTERS)
    query["bool"]["filter"] += shared
    own = {field: [clause for clause in clauses[field] if clause not in shared] for field in clauses}
    entity_fields = [field for field in own if field in ENTITY_TYPES]
    facets = {types[0]: NameFacets(types, names, size) for types in _group_by_clauses(entity_fields, own)}
    counted: Aggregations = {
        field: {field: _MONTHS} if field == "month" else _value_terms(values, field, size)
        for field in own
        if field not in ENTITY_TYPES
    }
    counts: dict[str, FacetCounts] = {}
    while len(counts) < len(own):
        counted |= {field: of.aggregations() for field, of in facets.items() if of.counts is None}
        places = [(field, name) for field, aggregations in counted.items() for name in aggregations]
        # By number: a name with a bracket, as keys of metadata may have, is rejected.
        aggs = {
            str(n): _with_filter(counted[field][name], own[field]) for n, (field, name) in enumerate(places)
        }
        # A field of which the collection has no value needs no aggregation.
        answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs).get("aggregations", {})
        found = {place: _without_filter(answer[str(n)]) for n, place in enumerate(places)}
        for field, aggregations in counted.items():
            answers = {name: found[field, name] for name in aggregations}
            if field in facets:
                facets[field].take(answers)
                counts |= facets[field].counts or {}
            else:
                table = None if field == "month" else values.values(field)
                counts[field] = _values(answers.values(), table, size)
        counted = {}
    return {field: counts[field] for field in filters_by_field}


def _group_by_clauses(fields: Sequence[str], clauses: Mapping[str, list[Query]]) -> list[list[str]]:
    """The fields with the same clauses, together."""
    groups: list[list[str]] = []
    for field in fields:
        group = next((group for group in groups if clauses[group[0]] == clauses[field]), None)
        if group is None:
            groups.append([field])
        else:
            group.append(field)
    return groups


def _value_terms(values: ValueReader, field: str, size: int) -> dict[str, Query]:
    """A value that is written in several ways may be among the most frequent by none of them."""
    table, names = values.values(field), attribute_names(values, field)
    width = _MOST_FORMS if table.has_variants or len(names) > 1 else size
    return {
        name: {"terms": {"field": attribute_field(name), "size": width, "shard_size": max(width, SHARD_SIZE)}}
        for name in names
        if len(table)
    }


def _with_filter(aggregation: Query, clauses: list[Query]) -> Query:
    # A filter that lets everything pass would be checked for each candidate: that took half as long again.
    if not clauses:
        return aggregation
    return {"filter": {"bool": {"filter": clauses}}, "aggs": {"values": aggregation}}


def _without_filter(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    inner: Mapping[str, Any] = answer.get("values", answer)
    return inner


def _values(answers: Iterable[Mapping[str, Any]], table: ValueTable | None, size: int) -> FacetCounts:
    """The values of a table, or months."""
    values: Counter[str] = Counter()
    for bucket in (bucket for answer in answers for bucket in answer["buckets"]):
        values[bucket["key_as_string"] if table is None else table.form(bucket["key"])] += bucket["doc_count"]
    # Months come in their order.
    return sorted(values.items(), key=lambda value: (-value[1], value[0]))[:size]
