"""The sentences that satisfy a condition, the newest first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.candidates import mask_allowed
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.filters import Filters
from esr.plans.condition import Condition


def find_newest(
    condition: Condition, cache: SearchCache, k: int, filters: Filters
) -> tuple[npt.NDArray[np.int64], int]:
    """The ordinals of the newest k, and how many there are. Without a date they are last.

    Equal dates are in collection order. NO_DATE is the least number, so it is the oldest date.
    """
    start, ordinals, dates = 0, [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for segment, mask in mask_allowed(condition, cache, filters):
        assert mask is not None  # as there is a condition
        numbers = np.flatnonzero(mask)
        ordinals.append(numbers + start)
        dates.append(segment.column("date")[segment.column("document")[numbers]])
        start += segment.sentence_count
    all_ordinals, all_dates = np.concatenate(ordinals), np.concatenate(dates)
    total = len(all_dates)
    if k < total:  # those that are older than the k-th need no order
        threshold = np.partition(all_dates, total - k)[total - k]
        chosen = np.flatnonzero(all_dates >= threshold)
        all_ordinals, all_dates = all_ordinals[chosen], all_dates[chosen]
    newest_first = len(all_dates) - 1 - np.argsort(all_dates[::-1], kind="stable")[::-1]
    return all_ordinals[newest_first][:k], total
