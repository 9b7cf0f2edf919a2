"""Facets: how many candidates have each value of several fields, counted in one pass over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import numpy as np

from esr.engines.embedded.search.candidates import select_candidates
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.entities import ENTITY_TYPES
from esr.engines.index import FACET_FIELDS, FacetCounts, Filters
from esr.engines.segments.store.layer_info import Numbers
from esr.engines.segments.store.layer_stack import EntityCounts
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
        if field not in FACET_FIELDS:
            raise unknown("facet", field, FACET_FIELDS)
    counts: dict[str, FacetCounts] = {}
    for filters in dict.fromkeys(filters_by_field.values()):
        numbers = select_candidates(plan, cache, filters)
        candidates = list(zip(cache.snapshot.segments, numbers, strict=True))
        fields = [field for field in filters_by_field if filters_by_field[field] == filters]
        if by_document := [field for field in fields if field in _BY_DOCUMENT]:
            documents = [
                (segment, np.bincount(segment.column("document")[numbers], minlength=segment.document_count))
                for segment, numbers in candidates
            ]
            counts |= {field: _top(_BY_DOCUMENT[field](documents), size) for field in by_document}
        if types := [field for field in fields if field in ENTITY_TYPES]:
            entities = [
                part for segment, numbers in candidates for part in segment.enrichment.entity_counts(numbers)
            ]
            counts |= {type: _count_entities(entities, type, size) for type in types}
    return {field: counts[field] for field in filters_by_field}


def _count_sources(documents: DocumentCounts) -> Iterable[tuple[str, int]]:
    """A candidate without a source counts for none."""
    total: Counter[str] = Counter()
    for segment, candidates in documents:
        by_source = np.bincount(segment.column("source"), candidates, len(segment.sources)).astype(int)
        for source, count in zip(segment.sources, by_source.tolist(), strict=True):
            if source is not None and count:
                total[source] += count
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


_BY_DOCUMENT = {"source": _count_sources, "month": _count_months}


def _count_entities(parts: Sequence[EntityCounts], type: str, size: int) -> FacetCounts:
    """A sentence that names an entity twice counts once."""
    parts = [part.of_type(ENTITY_TYPES.index(type)) for part in parts]
    hashes = np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in parts)])
    counts = np.concatenate([np.zeros(0, np.int64), *(part.counts for part in parts)])
    places = np.arange(len(hashes))
    if len(parts) > 1:  # the names of several layers are matched by their hash
        _, places, group = np.unique(hashes, return_index=True, return_inverse=True)
        counts = np.bincount(group, counts).astype(np.int64)
    # Only the names that may be shown are read.
    ends = list(accumulate(len(part.numbers) for part in parts))
    least = np.partition(counts, len(counts) - size)[len(counts) - size] if size < len(counts) else 0
    is_shown = counts >= least
    named = []
    for place, count in zip(places[is_shown].tolist(), counts[is_shown].tolist(), strict=True):
        owner = int(np.searchsorted(ends, place, "right"))
        part = parts[owner]
        key = part.layer.entity_key(int(part.numbers[place - (ends[owner] - len(part.numbers))]))
        named.append((key.partition(":")[2], count))
    return _top(named, size)


def _top(counts: Iterable[tuple[str, int]], size: int) -> FacetCounts:
    """The most frequent values, the most frequent first, then by name."""
    return sorted(counts, key=lambda value: (-value[1], value[0]))[:size]
