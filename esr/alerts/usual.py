"""Days on which more sentences match than usual.

Usual is the median of the days before, of 28. The limit is three deviations above it, where a deviation is
the greatest of 1.4826 times the median distance from the median (a standard deviation that no outlier moves),
the square root of the median (what counts vary by chance), and 1. A day is unusual with more sentences than
the limit, and at least 5. Days before the first document of the collection do not count; with fewer than 7
days, nothing is usual yet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

DAYS = 28
LEAST_DAYS = 7
LEAST_SENTENCES = 5
_DEVIATIONS = 3.0
_TO_STANDARD = 1.4826


class UnusualDay(NamedTuple):
    """The number of sentences of a day, the usual one, and the limit."""

    sentences: int
    usual: float
    limit: float


def judge_day(counts: Mapping[int, int], day: int, first: int) -> UnusualDay | None:
    """The day if more sentences match than usual, else None.

    `counts` has the numbers of matching sentences by day, and `first` is the first day of the collection.
    """
    before = [counts.get(earlier, 0) for earlier in range(max(day - DAYS, first), day)]
    count = counts.get(day, 0)
    if len(before) < LEAST_DAYS or count < LEAST_SENTENCES:
        return None
    usual = float(median(before))
    spread = _TO_STANDARD * float(median(abs(number - usual) for number in before))
    limit = usual + _DEVIATIONS * max(spread, math.sqrt(usual), 1.0)
    return UnusualDay(count, usual, limit) if count > limit else None
