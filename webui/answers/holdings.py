"""What the collection has: sources by period, what its documents lack, languages, copies and enrichment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from esr.errors import EsrError
from esr.following.timeline import Interval, count_periods, first_day, name_of, period_of
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.hits import SentenceRecord
from esr.index.questions import ByDay, ByDocument, ByField, HasCopies, Hits, Languages, Summary
from esr.plans.plan import Condition, DateRange, HasPrefix, HasSource, Not
from esr.ranking.answers import require_record
from esr.ranking.searcher import Searcher

T = TypeVar("T")
SOURCES, PERIODS, LEVELS = 24, 60, 5
"""Maximum numbers of sources and of periods of the map, and the number of its shades."""
LISTED = 50
"""Maximum documents of a list of what lacks something."""
_ALL_TIME = 10**15
"""More milliseconds than any date is from the epoch."""
LACKING: Mapping[str, Condition] = {
    "undated": Not(DateRange(-_ALL_TIME, _ALL_TIME)),
    "untitled": Not(HasPrefix("", "title")),
}
"""Conditions of documents without a date, and of those without a word in the title."""


class Cell(NamedTuple):
    """The sentences of a source in a period, from its first to its last day. `level` is 0 without any."""

    sentences: int
    level: int
    first: str
    last: str


class SourceRow(NamedTuple):
    """A source, its number of sentences, and a cell for each period."""

    source: str
    sentences: int
    cells: Sequence[Cell]


class Holdings(NamedTuple):
    """The description. Parts that the engine does not tell are empty or None.

    `enriched`: the number of documents that have each part of enrichment. `has_copies`: whether copies were
    looked for.
    """

    documents: int
    sentences: int
    first: str
    last: str
    interval: Interval
    periods: Sequence[str]
    rows: Sequence[SourceRow]
    lacking: Mapping[str, int]
    languages: Mapping[str | None, int]
    has_copies: bool
    enriched: Mapping[str, int]


def describe_holdings(searcher: Searcher) -> Holdings:
    """Count what an index has, in few requests."""
    index = searcher.snapshot().index
    collection = index.statistics(()).collection
    by_field = _try(lambda: index.count([None], NO_FILTERS, ByField(["source"], SOURCES))[0])
    sources = (by_field or {}).get("source", [])
    conditions: list[Condition | None] = [None, *(HasSource((source,)) for source, _ in sources)]
    days, *of_sources = _try(lambda: index.count(conditions, NO_FILTERS, ByDay())) or [{}]
    interval: Interval = "week"
    numbers = range(0)
    if days:
        ends = min(days), max(days)
        interval = next((each for each in _COARSER if _span(ends, each) <= PERIODS), _COARSER[-1])
        numbers = range(period_of(ends[0], interval), period_of(ends[1], interval) + 1)
    counts = [count_periods(of_source, interval) for of_source in of_sources]
    greatest = max((max(count.values(), default=0) for count in counts), default=0)
    rows = [
        SourceRow(source, number, [_make_cell(each.get(n, 0), greatest, n, interval) for n in numbers])
        for (source, number), each in zip(sources, counts, strict=False)
    ]
    lacking = {name: _count_documents(index, condition) for name, condition in LACKING.items()}
    summary = _try(lambda: index.status(Summary())["enrichment"]) or ()
    enriched: dict[str, int] = {}
    for part in summary:
        enriched[part["part"]] = enriched.get(part["part"], 0) + part["documents"]
    return Holdings(
        collection.documents,
        collection.sentences,
        name_of(min(days), "day") if days else "",
        name_of(max(days), "day") if days else "",
        interval,
        [name_of(n, interval) for n in numbers],
        rows,
        {name: number for name, number in lacking.items() if number is not None},
        _try(lambda: index.status(Languages())) or {},
        bool(_try(lambda: index.status(HasCopies()))),
        enriched,
    )


def list_lacking(searcher: Searcher, name: str) -> tuple[list[SentenceRecord], int | None]:
    """The first sentences of some documents that lack something of LACKING, and the number of all such."""
    index = searcher.snapshot().index
    first: dict[str, SentenceRecord] = {}
    for hit in index.select(LACKING[name], LISTED * 40, NO_FILTERS, Hits()).hits:
        record = require_record(hit)
        first.setdefault(record.document_id, record)
    return list(first.values())[:LISTED], _count_documents(index, LACKING[name])


_COARSER: tuple[Interval, ...] = ("week", "month", "year")


def _span(ends: tuple[int, int], interval: Interval) -> int:
    return period_of(ends[1], interval) - period_of(ends[0], interval) + 1


def _make_cell(count: int, greatest: int, period: int, interval: Interval) -> Cell:
    """A cell. Each level has twice the share of the level before, so that small sources are seen too."""
    level = 0
    if count:
        level = max(1, LEVELS - sum(count * 2**n < greatest for n in range(LEVELS - 1)))
    ends = first_day(period, interval), first_day(period + 1, interval) - 1
    return Cell(count, level, *(name_of(day, "day") for day in ends))


def _count_documents(index: Index, condition: Condition) -> int | None:
    counts = _try(lambda: index.count([condition], NO_FILTERS, ByDocument()))
    return counts[0].documents if counts else None


def _try(work: Callable[[], T]) -> T | None:
    try:
        return work()
    except EsrError:  # a page without a part is better than an error
        return None
