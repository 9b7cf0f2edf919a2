"""Days, weeks, months and years, as numbers that follow one another and as names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Literal, get_args

import numpy as np

from esr.engines.index import DAY, DayCounts

Interval = Literal["day", "week", "month", "year"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)
"""From the finest to the coarsest. Weeks begin on Mondays and are named as ISO 8601 does: 2017-W10."""

_UNITS = {"day": "M8[D]", "month": "M8[M]", "year": "M8[Y]"}
_EPOCH = date(1970, 1, 1)
_MONDAY = 3
"""The first day of 1970 was a Thursday: weeks since then are counted from the Monday before."""


def period_of(day: int, interval: Interval) -> int:
    """The number of the period that has this day. Days are counted from 1970-01-01."""
    match interval:
        case "day":
            return day
        case "week":
            return (day + _MONDAY) // 7
        case "month":
            return int(np.array([day], "M8[D]").astype("M8[M]").astype(int)[0])
        case "year":
            return int(np.array([day], "M8[D]").astype("M8[Y]").astype(int)[0])


def first_day(period: int, interval: Interval) -> int:
    """The first day of a period."""
    match interval:
        case "day":
            return period
        case "week":
            return period * 7 - _MONDAY
        case "month":
            return int(np.array([period], "M8[M]").astype("M8[D]").astype(int)[0])
        case "year":
            return int(np.array([period], "M8[Y]").astype("M8[D]").astype(int)[0])


def name_of(period: int, interval: Interval) -> str:
    """The period in ISO 8601: 2017-03-05, 2017-W10, 2017-03 or 2017. Filters take days, months and years."""
    if interval == "week":
        year, week, _ = (_EPOCH + timedelta(days=first_day(period, interval))).isocalendar()
        return f"{year:04}-W{week:02}"
    return str(np.array([period], _UNITS[interval])[0])


def date_range(period: int, interval: Interval) -> tuple[int, int]:
    """The first and the last millisecond since the epoch."""
    return first_day(period, interval) * DAY, first_day(period + 1, interval) * DAY - 1


def count_periods(counts: DayCounts, interval: Interval) -> Mapping[int, int]:
    """The counts of days, added up by period."""
    of_periods: Counter[int] = Counter()
    for day, count in counts.items():
        of_periods[period_of(day, interval)] += count
    return of_periods
