"""Facets: how many candidates have each value of several fields, counted in one pass over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from esr.engines.embedded.search.candidates import select_candidates
from esr.engines.embedded.search.name_table import NameTable
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.embedded.search.value_counts import count_values
from esr.engines.entities import ENTITY_TYPES
from esr.engines.filters import can_be_counted
from esr.engines.index import FACET_FIELDS, FacetCounts, Filters
from esr.engines.resolve import attribute_names
from esr.engines.segments.store.layer_info import Numbers
from esr.engines.segments.store.segment import NO_DATE, Segment
from esr.errors import unknown
from esr.plans.plan import Plan

DocumentCounts = Sequence[tuple[Segment, Numbers]]
"""By segment, how many candidates each document has."""


def count_facets(
    cache: SearchCache, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
) -> dict[str, FacetCounts]:
    """The most frequent values of each field under its filters. Fields with the same filters share a pass."""
    for field in filters_by_field:
        if not can_be_counted(field):
            raise unknown("facet", field, FACET_FIELDS)
    segments = cache.snapshot.segments
    counts: dict[str, FacetCounts] = {}
    for filters in dict.fromkeys(filters_by_field.values()):
        candidates = select_candidates(plan, cache, filters)
        fields = [field for field in filters_by_field if filters_by_field[field] == filters]
        if by_document := [field for field in fields if field not in ENTITY_TYPES]:
            documents = [
                (segment, np.bincount(segment.column("document")[numbers], minlength=segment.document_count))
                for segment, numbers in zip(segments, candidates, strict=True)
            ]
            for field in by_document:
                is_month = field == "month"
                counted = _count_months(documents) if is_month else _count_values(cache, field, documents)
                counts[field] = _top(counted, size)
        if types := [field for field in fields if field in ENTITY_TYPES]:
            of_names = cache.names.count_sentences(candidates)
            counts |= {type: _top_names(cache.names, of_names, type, size) for type in types}
    return {field: counts[field] for field in filters_by_field}


def _count_values(cache: SearchCache, field: str, documents: DocumentCounts) -> Iterable[tuple[str, int]]:
    """A candidate without a value counts for none."""
    total: Counter[str] = Counter()
    values, names = cache.values(field), attribute_names(cache, field)
    for segment, candidates in documents:
        for value, count in count_values(segment, names, candidates):
            total[values.form(value)] += count
    return total.items()


def _count_months(documents: DocumentCounts) -> Iterable[tuple[str, int]]:
    """In UTC. A candidate without a date counts for none."""
    total: Counter[str] = Counter()
    for segment, candidates in documents:
        date = segment.column("date")
        dated = np.flatnonzero((date != NO_DATE) & (candidates > 0))
        month = date[dated].astype("datetime64[ms]").astype("datetime64[M]")
        months, place = np.unique(month, return_inverse=True)
        by_month = np.bincount(place, candidates[dated], len(months)).astype(int)
        total.update(dict(zip(np.datetime_as_string(months).tolist(), by_month.tolist(), strict=True)))
    return total.items()


def _top_names(names: NameTable, counts: Numbers, type: str, size: int) -> FacetCounts:
    """The most frequent names of a type, under the form that is shown, equal ones by key."""
    best = names.most_frequent(counts, names.by_type[type], size)
    return [(names.name(number).form, int(counts[number])) for number in best]


def _top(counts: Iterable[tuple[str, int]], size: int) -> FacetCounts:
    """The most frequent values, the most frequent first, then by name."""
    return sorted(counts, key=lambda value: (-value[1], value[0]))[:size]
