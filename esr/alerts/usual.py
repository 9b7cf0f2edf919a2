"""Days on which more sentences match than usual.

Usual is the median share of matching sentences of the last 28 days before it that have documents, of the last
56, times the sentences of the day. So a day with twice as many documents is not unusual for that. The limit
is three deviations above it, where a deviation is the greater of 1.4826 times the median distance from the
median (a standard deviation that no outlier moves) and the square root of what is usual (what counts vary by
chance). A day is unusual with more sentences than the limit, and at least 5. With fewer than 7 days
before it, nothing is usual yet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

DAYS = 28
_REACH = 56
LEAST_DAYS = 7
LEAST_SENTENCES = 5
_DEVIATIONS = 3.0
_TO_STANDARD = 1.4826


class UnusualDay(NamedTuple):
    """The number of sentences of a day, the usual one, and the limit."""

    sentences: int
    usual: float
    limit: float


def judge_day(counts: Mapping[int, int], day: int, totals: Mapping[int, int]) -> UnusualDay | None:
    """The day if more sentences match than usual, else None.

    `counts` has the numbers of matching sentences by day, and `totals` those of all sentences, of the days
    that have any. Days are in days since 1970.
    """
    earlier = [before for before in range(day - 1, day - _REACH - 1, -1) if totals.get(before)][:DAYS]
    sentences, total = counts.get(day, 0), totals.get(day, 0)
    if len(earlier) < LEAST_DAYS or sentences < LEAST_SENTENCES:
        return None
    shares = [counts.get(before, 0) / totals[before] for before in earlier]
    usual = float(median(shares))
    spread = _TO_STANDARD * float(median(abs(share - usual) for share in shares)) * total
    limit = usual * total + _DEVIATIONS * max(spread, math.sqrt(usual * total))
    return UnusualDay(sentences, usual * total, limit) if sentences > limit else None
