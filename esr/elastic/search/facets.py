"""Counts of candidates by the values of several fields, in one search where possible.

Names may take several. A name has the type that most sentences of the whole collection give it, so the most
frequent keys of all types are counted first, and then their types are looked up. If a type has too few names,
more keys are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from esr.elastic.cluster import Cluster
from esr.elastic.dialect import SEPARATOR, Dialect
from esr.elastic.requests import search
from esr.elastic.search.filters import Query, candidate_query, filter_clauses
from esr.elastic.vocabulary import (
    ALL_KEYS,
    SHARD_SIZE,
    NameCounts,
    NameReader,
    ValueReader,
    attribute_terms,
    rank,
)
from esr.errors import unknown
from esr.index.filters import (
    FACET_FIELDS,
    NO_FILTERS,
    FacetCounts,
    Filters,
    ValueTable,
    attribute_names,
    can_be_counted,
)
from esr.index.names import ENTITY_TYPES
from esr.plans.plan import Plan

_FIRST_KEYS, _KEYS_PER_VALUE, _WIDEN = 200, 10, 10
"""The number of keys counted at first, in all or per value to show, and its growth at each further step."""


class NameFacets:
    """Counts the names of `types`, in as many steps as necessary."""

    def __init__(self, types: Sequence[str], names: NameReader, size: int) -> None:
        self._types = types
        self._names = names
        self._size = size
        self._found = NameCounts(names.aliases)
        self._groups: list[str] = []
        """The names to count exactly in the next step; none if keys are to be counted."""
        self._has_all = False
        self._width = min(max(_FIRST_KEYS, _KEYS_PER_VALUE * size), SHARD_SIZE)
        self.counts: dict[str, FacetCounts] | None = None
        """The counted names by type; None while more has to be counted."""

    def aggregations(self) -> dict[str, Any]:
        """The aggregations of the next step, by name."""
        if self._groups:
            return {"groups": self._found.count_groups(self._groups)}
        return {"keys": {"terms": {"field": ALL_KEYS, "size": self._width, "shard_size": SHARD_SIZE}}}

    def take(self, answers: Mapping[str, Any]) -> None:
        """Take the answers of a step, and set `counts` if they suffice."""
        if self._groups:
            of_groups = (bucket["doc_count"] for bucket in answers["groups"]["buckets"])
            self._found.counted |= dict(zip(self._groups, of_groups, strict=True))
        else:
            buckets = answers["keys"]["buckets"]
            self._has_all = len(buckets) < self._width or self._width == SHARD_SIZE
            self._found.take(buckets, 0 if self._has_all else buckets[-1]["doc_count"])
        counts, inexact = self._found.bounds()
        types = self._names.types(counts)
        best = {
            type: rank({key: n for key, n in counts.items() if types.get(key) == type}, self._size)
            for type in self._types
        }
        least = min((counts[keys[-1]] if len(keys) == self._size else 0 for keys in best.values()), default=0)
        if not self._has_all and least < self._found.unseen:
            self._width, self._groups = min(self._width * _WIDEN, SHARD_SIZE), []
            return
        self._groups = [key for keys in best.values() for key in keys if key in inexact]
        if self._groups:
            return
        forms = self._names.forms(key for keys in best.values() for key in keys)
        self.counts = {type: [(forms[key], counts[key]) for key in keys] for type, keys in best.items()}


Aggregations = dict[str, dict[str, Query]]
"""The aggregations of each field, by name."""
_MOST_FORMS = 10_000
"""Written forms that are counted of a field some of whose forms differ only in case."""
_OF_DOCUMENTS = {
    "month": {
        "date_histogram": {
            "field": "date",
            "calendar_interval": "month",
            "format": "yyyy-MM",
            "min_doc_count": 1,
        }
    },
    "language": {"terms": {"field": "language", "size": SHARD_SIZE, "shard_size": SHARD_SIZE}},
}
"""The aggregations of fields that have no table of values."""


def count_facets(
    cluster: Cluster,
    names: NameReader,
    values: ValueReader,
    plan: Plan,
    filters_by_field: Mapping[str, Filters],
    size: int,
) -> dict[str, FacetCounts]:
    """The most frequent values of each field under its filters.

    Clauses that all fields share are part of the query, so that only a field's own clauses are checked for
    each of its candidates.
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
        field: {field: _OF_DOCUMENTS[field]}
        if field in _OF_DOCUMENTS
        else _value_terms(values, field, size, cluster.dialect)
        for field in own
        if field not in ENTITY_TYPES
    }
    counts: dict[str, FacetCounts] = {}
    while len(counts) < len(own):
        counted |= {field: of.aggregations() for field, of in facets.items() if of.counts is None}
        places = [(field, name) for field, aggregations in counted.items() for name in aggregations]
        # By number: Elasticsearch rejects names with brackets, which keys of metadata may have.
        aggs = {
            str(n): _with_filter(counted[field][name], own[field]) for n, (field, name) in enumerate(places)
        }
        # A field without any value in the collection needs no aggregation.
        answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs).get("aggregations", {})
        found = {place: _without_filter(answer[str(n)]) for n, place in enumerate(places)}
        for field, aggregations in counted.items():
            answers = {name: found[field, name] for name in aggregations}
            if field in facets:
                facets[field].take(answers)
                counts |= facets[field].counts or {}
            else:
                table = None if field in _OF_DOCUMENTS else values.values(field)
                counts[field] = _values(answers.values(), table, size)
        counted = {}
    return {field: counts[field] for field in filters_by_field}


def _group_by_clauses(fields: Sequence[str], clauses: Mapping[str, list[Query]]) -> list[list[str]]:
    """The fields, grouped by equal clauses."""
    groups: list[list[str]] = []
    for field in fields:
        group = next((group for group in groups if clauses[group[0]] == clauses[field]), None)
        if group is None:
            groups.append([field])
        else:
            group.append(field)
    return groups


def _value_terms(values: ValueReader, field: str, size: int, dialect: Dialect) -> dict[str, Query]:
    """The aggregations that count the values of a field.

    If values have several forms, many forms are counted: a value may be among the most frequent although no
    single form of it is.
    """
    table, names = values.values(field), attribute_names(values, field)
    width = _MOST_FORMS if table.has_variants or len(names) > 1 else size
    sizes = {"size": width, "shard_size": max(width, SHARD_SIZE)}
    return {name: {"terms": {**attribute_terms(name, dialect), **sizes}} for name in names if len(table)}


def _with_filter(aggregation: Query, clauses: list[Query]) -> Query:
    # A filter that matches everything would be checked for each candidate, which took half as long again.
    if not clauses:
        return aggregation
    return {"filter": {"bool": {"filter": clauses}}, "aggs": {"values": aggregation}}


def _without_filter(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    inner: Mapping[str, Any] = answer.get("values", answer)
    return inner


def _values(answers: Iterable[Mapping[str, Any]], table: ValueTable | None, size: int) -> FacetCounts:
    """The counts of a table's values, or of months and languages if `table` is None."""
    values: Counter[str] = Counter()
    for bucket in (bucket for answer in answers for bucket in answer["buckets"]):
        if table is None:
            value = bucket.get("key_as_string") or bucket["key"].lower()
        else:
            value = table.form(bucket["key"].rpartition(SEPARATOR)[2])
        values[value] += bucket["doc_count"]
    # Ties of months are in chronological order.
    return sorted(values.items(), key=lambda value: (-value[1], value[0]))[:size]
