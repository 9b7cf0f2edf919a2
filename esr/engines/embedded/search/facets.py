"""Counts of candidates by several fields of theirs, in one pass over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import numpy as np

from esr.engines.embedded.search.candidates import select_candidates
from esr.engines.entities import ENTITY_TYPES
from esr.engines.index import FACET_FIELDS, FacetCounts, Filters
from esr.engines.segments.store.layer_info import Numbers
from esr.engines.segments.store.layer_stack import EntityCounts
from esr.engines.segments.store.segment import NO_DATE, Segment
from esr.errors import unknown
from esr.plans.plan import Plan


def facets(
    segments: Sequence[Segment], plan: Plan, filters_by_field: Mapping[str, Filters], size: int
) -> dict[str, FacetCounts]:
    """The most frequent values of each field under its filters. Fields of the same filters share a pass."""
    for field in filters_by_field:
        if field not in FACET_FIELDS:
            raise unknown("facet", field, FACET_FIELDS)
    found: dict[str, FacetCounts] = {}
    for filters in dict.fromkeys(filters_by_field.values()):
        chosen = [(segment, select_candidates(plan, segment, filters)) for segment in segments]
        own = [field for field in filters_by_field if filters_by_field[field] == filters]
        if counting := [field for field in own if field in _COUNTING]:
            held = [
                (s, np.bincount(s.column("document")[at], minlength=s.document_count)) for s, at in chosen
            ]
            found |= {field: _most(_COUNTING[field](held), size) for field in counting}
        if types := [field for field in own if field in ENTITY_TYPES]:
            named = [part for segment, at in chosen for part in segment.enrichment.entity_counts(at)]
            found |= {type: _entities(named, type, size) for type in types}
    return {field: found[field] for field in filters_by_field}


Held = Sequence[tuple[Segment, Numbers]]
"""By segment, how many candidates each document has."""


def _sources(held: Held) -> Iterable[tuple[str, int]]:
    """A candidate without a source counts for none."""
    counts: Counter[str] = Counter()
    for segment, documents in held:
        numbers = np.bincount(segment.column("source"), documents, len(segment.sources)).astype(int)
        for source, count in zip(segment.sources, numbers.tolist(), strict=True):
            if source is not None and count:
                counts[source] += count
    return counts.items()


def _months(held: Held) -> Iterable[tuple[str, int]]:
    """In UTC. A candidate without a date counts for none."""
    counts: Counter[str] = Counter()
    for segment, documents in held:
        date = segment.column("date")
        dated = np.flatnonzero((date != NO_DATE) & (documents > 0))
        months = date[dated].astype("datetime64[ms]").astype("datetime64[M]")
        known, which = np.unique(months, return_inverse=True)
        numbers = np.bincount(which, documents[dated], len(known)).astype(int)
        counts.update(dict(zip(np.datetime_as_string(known).tolist(), numbers.tolist(), strict=True)))
    return counts.items()


_COUNTING = {"source": _sources, "month": _months}


def _entities(named: Sequence[EntityCounts], type: str, size: int) -> FacetCounts:
    """A sentence that names one twice counts once."""
    found = [part.of_type(ENTITY_TYPES.index(type)) for part in named]
    codes = np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in found)])
    counts = np.concatenate([np.zeros(0, np.int64), *(part.counts for part in found)])
    at = np.arange(len(codes))
    if len(found) > 1:  # names of several layers meet by their hash
        _, at, which = np.unique(codes, return_index=True, return_inverse=True)
        counts = np.bincount(which, counts).astype(np.int64)
    # Only those that may be shown are read.
    ends = list(accumulate(len(part.numbers) for part in found))
    least = np.partition(counts, len(counts) - size)[len(counts) - size] if size < len(counts) else 0
    shown = []
    for place, count in zip(at[counts >= least].tolist(), counts[counts >= least].tolist(), strict=True):
        owner = int(np.searchsorted(ends, place, "right"))
        part = found[owner]
        name = part.layer.entity_key(int(part.numbers[place - (ends[owner] - len(part.numbers))]))
        shown.append((name.partition(":")[2], count))
    return _most(shown, size)


def _most(counts: Iterable[tuple[str, int]], size: int) -> FacetCounts:
    return sorted(counts, key=lambda each: (-each[1], each[0]))[:size]
