"""The sentences that satisfy a condition, in the order of their dates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.candidates import mask_allowed
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.filters import Filters
from esr.engines.segments.store.segment import NO_DATE
from esr.plans.condition import Condition


def find_by_date(
    condition: Condition, cache: SearchCache, k: int, filters: Filters, oldest_first: bool
) -> tuple[npt.NDArray[np.int64], int]:
    """The ordinals of the first k, and how many there are. Without a date they are last.

    Equal dates are in collection order.
    """
    start, ordinals, dates = 0, [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for segment, mask in mask_allowed(condition, cache, filters):
        assert mask is not None  # as there is a condition
        numbers = np.flatnonzero(mask)
        ordinals.append(numbers + start)
        dates.append(segment.column("date")[segment.column("document")[numbers]])
        start += segment.sentence_count
    all_ordinals, keys = np.concatenate(ordinals), _sort_keys(np.concatenate(dates), oldest_first)
    total = len(keys)
    if k < total:  # those behind the k-th need no order
        chosen = np.flatnonzero(keys <= np.partition(keys, k - 1)[k - 1])
        all_ordinals, keys = all_ordinals[chosen], keys[chosen]
    return all_ordinals[np.argsort(keys, kind="stable")][:k], total


def _sort_keys(dates: npt.NDArray[np.int64], oldest_first: bool) -> npt.NDArray[np.int64]:
    """What to sort by in ascending order. NO_DATE becomes the greatest key."""
    last = np.iinfo(np.int64).max
    return np.where(dates == NO_DATE, last, dates if oldest_first else -dates)
