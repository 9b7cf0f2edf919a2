"""Timelines: numbers of sentences with all words of a query by day, week, month or year.

A sentence counts if it has every wanted word of the query and satisfies its required and excluded clauses,
as with "all words" in search results. Sentences without a date are counted separately.

Periods are numbered consecutively, from 0 in 1970.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from math import ceil
from typing import Any, Literal, get_args

import numpy as np
from msgspec.structs import replace

from esr.errors import UsageError
from esr.following.central_sentence import find_central
from esr.index.filters import Filters
from esr.index.hits import Hit
from esr.index.questions import ByDay, DayCounts
from esr.index.view import unite_languages
from esr.ranking.answers import hit_dict, require_record
from esr.ranking.prepared_query import PreparedQuery
from esr.tables import Table, to_columns
from esr.text.dates import DAY

Interval = Literal["day", "week", "month", "year"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)
"""The intervals, finest first. Weeks begin on Mondays and have ISO 8601 names: 2017-W10."""

Scale = Literal["count", "rate"]
_UNITS = {"day": "M8[D]", "month": "M8[M]", "year": "M8[Y]"}
_EPOCH = date(1970, 1, 1)
_MONDAY = 3
"""Days from the previous Monday to 1970-01-01, a Thursday. Weeks are counted from that Monday."""


_REMEMBERED = 1 << 14
"""Size of the caches of converted days and periods, which recur in a page."""


@lru_cache(_REMEMBERED)
def period_of(day: int, interval: Interval) -> int:
    """The number of the period that contains a day, itself given in days since 1970-01-01."""
    return (day + _MONDAY) // 7 if interval == "week" else _convert(day, "M8[D]", _UNITS[interval])


def first_day(period: int, interval: Interval) -> int:
    """The first day of a period."""
    return period * 7 - _MONDAY if interval == "week" else _convert(period, _UNITS[interval], "M8[D]")


def _convert(number: int, unit: str, other: str) -> int:
    return int(np.array([number], unit).astype(other).astype(int)[0])


@lru_cache(_REMEMBERED)
def name_of(period: int, interval: Interval) -> str:
    """The period's ISO 8601 name: 2017-03-05, 2017-W10, 2017-03 or 2017. Filters take all except weeks."""
    if interval == "week":
        year, week, _ = (_EPOCH + timedelta(days=first_day(period, interval))).isocalendar()
        return f"{year:04}-W{week:02}"
    return str(np.array([period], _UNITS[interval])[0])


def date_range(period: int, interval: Interval) -> tuple[int, int]:
    """The first and the last millisecond of a period, since the epoch."""
    return first_day(period, interval) * DAY, first_day(period + 1, interval) * DAY - 1


def count_periods(counts: DayCounts, interval: Interval) -> Mapping[int, int]:
    """Sum the counts of days by period."""
    of_periods: defaultdict[int, int] = defaultdict(int)
    for day, count in counts.items():
        of_periods[period_of(day, interval)] += count
    return of_periods


PEAKS, MAX_PEAKS = 6, 20
"""Default and maximum number of peaks of each query that get a sentence."""
READ_OF_PEAK = 200
"""Maximum sentences of a peak, the best by the ranking, of which the central one is taken."""
LEAST_SHARE = 0.1
"""A period has rates if it has at least this share of the sentences of the median period that has any."""
MAX_PERIODS = 5_000
"""Maximum periods of a timeline, for pictures and tables that can be read."""
TABLE_COLUMNS = ("query", "period", "count", "sentences", "per_million")
_READABLE = 120
"""Maximum periods with an interval that is chosen by default."""


@dataclass(frozen=True, slots=True)
class Peak:
    """A period with more sentences than its neighbours, and the sentence that most of the others agree with.

    `sources`: how many sources the sentences are of, counted in the best READ_OF_PEAK of them.
    """

    period: str
    count: int
    hit: Hit
    sources: int = 0


@dataclass(frozen=True, slots=True)
class Series:
    """The counts of one query by period; `undated` counts its sentences without a date."""

    query: str
    counts: Sequence[int]
    undated: int
    peaks: Sequence[Peak]

    @property
    def total(self) -> int:
        """The number of sentences with a date."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class Timeline(Table):
    """One or several queries over the same periods, in order and without gaps.

    `sentences` counts all sentences of each period that pass the filters, the base of rates.
    """

    interval: Interval
    periods: Sequence[str]
    sentences: Sequence[int]
    series: Sequence[Series]

    @property
    def least_sentences(self) -> int:
        """The number of sentences from which a period has rates: LEAST_SHARE of the median period's.

        Periods without sentences do not count for the median. In the others, one sentence would move a rate
        by much.
        """
        present = sorted(number for number in self.sentences if number)
        return max(ceil(LEAST_SHARE * present[len(present) // 2]), 1) if present else 1

    def rates(self, series: Series) -> list[float | None]:
        """Return sentences per million of the period's sentences; None for a period with too few."""
        pairs, least = zip(series.counts, self.sentences, strict=True), self.least_sentences
        return [1e6 * count / of if of >= least else None for count, of in pairs]

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with the columns TABLE_COLUMNS and a row for each period of each query."""
        return to_columns(TABLE_COLUMNS, self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of this table."""
        return [
            dict(zip(TABLE_COLUMNS, (series.query, *row), strict=True))
            for series in self.series
            for row in zip(self.periods, series.counts, self.sentences, self.rates(series), strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """`{"interval", "periods", "sentences", "series": [{"query", "counts", "rates", "total", ...}]}`.

        A series also has `"undated"` and `"peaks": [{"period", "count", "sources", "sentence"}]`.
        Lists have one value for each period, except peaks. A rate is None for a period with fewer sentences
        than `"least_sentences"`.
        """
        return {
            "interval": self.interval,
            "least_sentences": self.least_sentences,
            "periods": list(self.periods),
            "sentences": list(self.sentences),
            "series": [
                {
                    "query": series.query,
                    "counts": list(series.counts),
                    "rates": [rate if rate is None else round(rate, 3) for rate in self.rates(series)],
                    "total": series.total,
                    "undated": series.undated,
                    "peaks": [
                        {
                            "period": peak.period,
                            "count": peak.count,
                            "sources": peak.sources,
                            "sentence": hit_dict(peak.hit),
                        }
                        for peak in series.peaks
                    ],
                }
                for series in self.series
            ],
        }


def build_timeline(
    queries: Sequence[PreparedQuery], filters: Filters, interval: Interval | None = None, peaks: int = PEAKS
) -> Timeline:
    """Count the sentences of queries on one index by period. The default interval is the finest readable one.

    In an index by language, `sentences` counts those in the queries' language, or all if the queries have
    several languages. Raises UsageError if the interval makes too many periods.
    """
    index, conditions = unite_languages([(query.index, query.all_words) for query in queries])
    everything, *counts = index.count([None, *conditions], filters, ByDay())
    totals = index.count(conditions, filters)
    days = sorted({day for of_query in counts for day in of_query})
    interval = _check_interval(interval, days) if interval else _choose_interval(days)
    numbers = range(period_of(days[0], interval), period_of(days[-1], interval) + 1) if days else range(0)
    of_all = count_periods(everything, interval)
    series = []
    for query, of_days, total in zip(queries, counts, totals, strict=True):
        of_periods = count_periods(of_days, interval)
        values = [of_periods.get(number, 0) for number in numbers]
        chosen = [numbers[place] for place in find_peaks(values)[:peaks]]
        peaks_found = [_find_peak(query, number, of_periods[number], interval, filters) for number in chosen]
        known = [peak for peak in peaks_found if peak is not None]
        text = query.interpretation.parsed.text
        series.append(Series(text, values, total - sum(values), known))
    names = [name_of(number, interval) for number in numbers]
    return Timeline(interval, names, [of_all.get(number, 0) for number in numbers], series)


def find_peaks(counts: Sequence[int]) -> list[int]:
    """The positions of the local maxima of at least 2, highest first, then earliest.

    A plateau counts at its beginning.
    """
    padded = [0, *counts, 0]
    peaks = [n for n, count in enumerate(counts) if padded[n] < count >= padded[n + 2] and count > 1]
    return sorted(peaks, key=lambda place: (-counts[place], place))


def _find_peak(
    query: PreparedQuery, period: int, count: int, interval: Interval, filters: Filters
) -> Peak | None:
    """Find the central sentence of a peak among the sentences counted, the best ones by the query's ranking.

    Returns None if the engine's answer is incomplete and has no sentence.
    """
    start, end = date_range(period, interval)
    within = replace(
        filters,
        date_from=start if filters.date_from is None else max(start, filters.date_from),
        date_to=end if filters.date_to is None else min(end, filters.date_to),
    )
    hits = query.with_all_words().search(min(count, READ_OF_PEAK), within).hits
    if not hits:
        return None
    hit = find_central(hits, query.index, query.interpretation.counts)
    sources = {source for hit in hits if (source := require_record(hit).source)}
    return Peak(name_of(period, interval), count, hit, len(sources))


def _choose_interval(days: Sequence[int]) -> Interval:
    return next((interval for interval in INTERVALS if _count(days, interval) <= _READABLE), INTERVALS[-1])


def _check_interval(interval: Interval, days: Sequence[int]) -> Interval:
    if _count(days, interval) > MAX_PERIODS:
        allowed = next(
            candidate
            for candidate in INTERVALS
            if _count(days, candidate) <= MAX_PERIODS or candidate == "year"
        )
        raise UsageError(
            f"the timeline would have {_count(days, interval):,} {interval}s, at most {MAX_PERIODS:,} are "
            f"allowed: take the interval {allowed}, or limit the dates"
        )
    return interval


def _count(days: Sequence[int], interval: Interval) -> int:
    """The number of periods from the first day to the last."""
    return period_of(days[-1], interval) - period_of(days[0], interval) + 1 if days else 0


def timeline_rows(timeline: Timeline) -> list[dict[str, str]]:
    """The rows of a timeline as texts, for files."""
    return [{name: _to_text(cell) for name, cell in row.items()} for row in timeline.rows()]


def _to_text(cell: str | float | None) -> str:
    if cell is None:
        return ""
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
