"""Counts sentences by the day of their document."""

from __future__ import annotations

from collections import Counter

import numpy as np

from esr.engines.embedded.search.candidates import mask_allowed
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.filters import DAY, DayCounts, Filters
from esr.engines.segments.store.segment import NO_DATE
from esr.plans.condition import Condition


def count_days(condition: Condition | None, cache: SearchCache, filters: Filters) -> DayCounts:
    """How many sentences of each day satisfy the condition and the filters. Without a date, none counts."""
    counts: Counter[int] = Counter()
    for segment, mask in mask_allowed(condition, cache, filters):
        document = segment.column("document")
        numbers = document if mask is None else document[mask]
        by_document = np.bincount(numbers, minlength=segment.document_count)
        date = segment.column("date")
        dated = np.flatnonzero((date != NO_DATE) & (by_document > 0))
        days, place = np.unique(date[dated] // DAY, return_inverse=True)
        of_days = np.bincount(place, by_document[dated], len(days)).astype(int)
        counts.update(dict(zip(days.tolist(), of_days.tolist(), strict=True)))
    return counts
