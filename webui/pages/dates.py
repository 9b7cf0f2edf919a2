"""The chart of dates in the rail of the results page, counted without the filter by date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from esr.errors import EsrError
from esr.following.timeline import (
    INTERVALS,
    Interval,
    Series,
    Timeline,
    count_periods,
    date_range,
    name_of,
    period_of,
)
from esr.index.filters import Filters
from esr.index.questions import ByDay, DayCounts
from esr.ranking.prepared_query import PreparedQuery
from webui.translations.language import current_language

_EPOCH = date(1970, 1, 1)
MOST_PERIODS = 60
"""Maximum number of bars of the chart, which is narrow."""


@dataclass(frozen=True)
class Dates:
    """The chart of dates. `picked`: the periods that the search is limited to; empty without a limit.

    `first`, `last`: the first and the last day.
    """

    timeline: Timeline
    picked: frozenset[str]
    first: date
    last: date

    @property
    def ends(self) -> tuple[str, ...]:
        """The first and the last month, or year, for readers; one if both are equal."""
        formats = current_language().formats
        write = formats.year if self.timeline.interval == "year" else formats.short_month
        return tuple(dict.fromkeys(write(day) for day in (self.first, self.last)))


def count_dates(prepared: PreparedQuery, filters: Filters, by_date: bool = False) -> Dates | None:
    """The sentences that match the query by period; None without dates, or if the engine gives no counts.

    `by_date`: the sentences with all words.
    """
    condition = prepared.all_words if by_date else prepared.matching
    if condition is None:
        return None
    try:
        (days,) = prepared.index.count([condition], filters.without_field("month"), ByDay())
    except EsrError:  # as for facets
        return None
    return draw_dates(days, filters) if days else None


def draw_dates(days: DayCounts, filters: Filters) -> Dates:
    """The counts of days, at least one, by the finest period that the chart has room for."""
    timeline = draw_days(days)
    interval = timeline.interval
    first, last = min(days), max(days)
    numbers = range(period_of(first, interval), period_of(last, interval) + 1)
    has_filter = filters.date_from is not None or filters.date_to is not None
    picked = [
        name
        for name, number in zip(timeline.periods, numbers, strict=True)
        if has_filter and _is_picked(filters, *date_range(number, interval))
    ]
    ends = (_EPOCH + timedelta(days=day) for day in (first, last))
    return Dates(timeline, frozenset(picked), *ends)


def draw_days(days: DayCounts, finest: Interval = "day") -> Timeline:
    """The timeline of at least one day's counts, by the finest period that a narrow chart has room for."""
    first, last = min(days), max(days)
    intervals = INTERVALS[INTERVALS.index(finest) :]
    fine = (
        interval
        for interval in intervals
        if period_of(last, interval) - period_of(first, interval) < MOST_PERIODS
    )
    interval: Interval = next(fine, INTERVALS[-1])
    counts = count_periods(days, interval)
    numbers = range(period_of(first, interval), period_of(last, interval) + 1)
    names = [name_of(number, interval) for number in numbers]
    return Timeline(interval, names, [], [Series("", [counts.get(n, 0) for n in numbers], 0, [])])


def _is_picked(filters: Filters, start: int, end: int) -> bool:
    """Whether the filters let through any part of the period."""
    first, last = filters.date_from, filters.date_to
    return (first is None or first <= end) and (last is None or last >= start)
