"""Periods: the years, quarters, months or weeks by which an index may be divided.

A document belongs to the period of its moment, the first millisecond of its date in UTC, by which filters
compare it too. Documents without a date have a period of their own. Names are ISO 8601 where it has any, and
sort by time, the undated last.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache

from esr.errors import unknown
from esr.stdlib import compile_lazily
from esr.text.dates import DAY, parse_date_end, parse_date_start
from esr.text.document import Document

PERIODS: Mapping[str, str] = {
    "year": "2017",
    "quarter": "2017-Q1",
    "month": "2017-03",
    "week": "2017-W10, from Monday to Sunday",
}
"""By what an index may be divided, with the name of a period of each."""
UNDATED = "undated"
"""The period of the documents without a date."""
_EPOCH = date(1970, 1, 1).toordinal()
_QUARTER = compile_lazily(r"(\d{4})-Q([1-4])")
_WEEK = compile_lazily(r"(\d{4})-W(\d\d)")


def check_division(by: str) -> None:
    """Raise UsageError if an index cannot be divided by this."""
    if by not in PERIODS:
        raise unknown("period for --by", by, PERIODS)


def period_of(moment: int | None, by: str) -> str:
    """The name of the period of a moment, in milliseconds since the epoch; UNDATED for None."""
    return UNDATED if moment is None else _period_of_day(moment // DAY, by)


def period_of_document(document: Document, by: str) -> str:
    """The name of the period that a document belongs to."""
    return period_of(None if document.date is None else parse_date_start(document.date), by)


@lru_cache(1 << 14)
def _period_of_day(number: int, by: str) -> str:
    """The period of a day, in days since 1970-01-01."""
    day = date.fromordinal(number + _EPOCH)
    match by:
        case "year":
            return f"{day.year:04}"
        case "quarter":
            return f"{day.year:04}-Q{(day.month + 2) // 3}"
        case "month":
            return f"{day.year:04}-{day.month:02}"
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


@lru_cache(1 << 12)
def period_range(period: str) -> tuple[int, int] | None:
    """The first and the last millisecond of a period, both inclusive; None for UNDATED.

    Raises ValueError for a text that names no period.
    """
    if period == UNDATED:
        return None
    if quarter := _QUARTER.fullmatch(period):
        first, last = (f"{quarter[1]}-{3 * int(quarter[2]) - rest:02}" for rest in (2, 0))
        return parse_date_start(first), parse_date_end(last)
    if week := _WEEK.fullmatch(period):  # no date names the last week of 9999, which ends after that year
        start = (date.fromisocalendar(int(week[1]), int(week[2]), 1).toordinal() - _EPOCH) * DAY
        return start, start + 7 * DAY - 1
    return parse_date_start(period), parse_date_end(period)


def may_hold(period: str, start: int | None, end: int | None) -> bool:
    """Whether a period has moments from `start` to `end`, both inclusive, in milliseconds; None is open.

    UNDATED has none, unless both ends are open.
    """
    if start is None and end is None:
        return True
    limits = period_range(period)
    if limits is None:
        return False
    return (start is None or limits[1] >= start) and (end is None or limits[0] <= end)
