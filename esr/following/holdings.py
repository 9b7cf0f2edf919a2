"""What a collection has: sources by period, what its documents lack, languages, copies and enrichment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from esr.errors import NotVisible
from esr.following.timeline import Interval, count_periods, first_day, name_of, period_of
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import SentenceRecord
from esr.index.questions import ByDay, ByDocument, ByField, HasCopies, Hits, Languages, Summary
from esr.plans.plan import Condition, DateRange, HasPrefix, HasSource, Not
from esr.ranking.answers import require_record
from esr.ranking.searcher import Searcher
from esr.tables import Table

T = TypeVar("T")
SOURCES, PERIODS = 24, 60
"""Maximum numbers of sources and of periods."""
LISTED = 50
"""Maximum documents of a list of what lacks something."""
_ALL_TIME = 10**15
"""More milliseconds than any date is from the epoch."""
LACKING: Mapping[str, Condition] = {
    "undated": Not(DateRange(-_ALL_TIME, _ALL_TIME)),
    "untitled": Not(HasPrefix("", "title")),
}
"""Conditions of documents without a date, and of those without a word in the title."""


class SourceRow(Struct, frozen=True):
    """A source, its number of sentences, and the number in each period; those without a date are in none."""

    source: str
    sentences: int
    counts: Sequence[int]


class Holdings(Table, Struct, frozen=True):
    """What a collection has. Those who see only a part of it get no `copies` and no `enriched`.

    `first` and `last` are days, "" if no document has a date. `periods` are the days, weeks, months or years
    between them without a gap, `days` the first and the last day of each, and `sources` the SOURCES with most
    sentences. `undated` and `untitled` count documents, as do `languages`, by code, with None for an
    undeclared one: those of most documents first, None last. `copies`: the number of sentences that are
    copies of an earlier one, None where nobody looked for copies. `enriched`: the number of documents that
    have each part of enrichment, by the names of the parts.
    """

    documents: int
    sentences: int
    first: str
    last: str
    interval: Interval
    periods: Sequence[str]
    days: Sequence[tuple[str, str]]
    sources: Sequence[SourceRow]
    undated: int
    untitled: int
    languages: Mapping[str | None, int]
    copies: int | None
    enriched: Mapping[str, int]

    @property
    def lacking(self) -> Mapping[str, int]:
        """The numbers of documents that lack something, by the names of LACKING."""
        return {"undated": self.undated, "untitled": self.untitled}

    def as_dict(self) -> dict[str, Any]:
        """`{"documents", "sentences", "first", "last", "undated", "untitled", "copies", "languages":
        [{"language", "documents"}], "enriched": [{"part", "documents"}], "interval", "periods": [...],
        "sources": [{"source", "sentences", "counts": [...]}]}`
        """
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            "first": self.first or None,
            "last": self.last or None,
            "undated": self.undated,
            "untitled": self.untitled,
            "copies": self.copies,
            "languages": [{"language": code, "documents": number} for code, number in self.languages.items()],
            "enriched": [{"part": part, "documents": number} for part, number in self.enriched.items()],
            "interval": self.interval,
            "periods": list(self.periods),
            "sources": [
                {"source": row.source, "sentences": row.sentences, "counts": list(row.counts)}
                for row in self.sources
            ],
        }

    def rows(self) -> list[dict[str, Any]]:
        """`{"source", "period", "sentences"}` for each source and period."""
        return [
            {"source": row.source, "period": period, "sentences": number}
            for row in self.sources
            for period, number in zip(self.periods, row.counts, strict=True)
        ]

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each source and period."""
        rows = self.rows()
        return {name: [row[name] for row in rows] for name in COLUMNS}


COLUMNS = ("source", "period", "sentences")
"""The columns of the table of sources."""


def describe_holdings(searcher: Searcher) -> Holdings:
    """Count what an index has, in few requests."""
    index = searcher.snapshot().index
    collection = index.statistics(()).collection
    (by_field,) = index.count([None], NO_FILTERS, ByField(["source"], SOURCES))
    listed = by_field.get("source", [])
    conditions: list[Condition | None] = [None, *(HasSource((source,)) for source, _ in listed)]
    days, *days_of_sources = index.count(conditions, NO_FILTERS, ByDay())
    interval: Interval = "week"
    numbers = range(0)
    if days:
        ends = min(days), max(days)
        interval = next(
            (candidate for candidate in _COARSER if _span(ends, candidate) <= PERIODS), _COARSER[-1]
        )
        numbers = range(period_of(ends[0], interval), period_of(ends[1], interval) + 1)
    rows = []
    for (source, number), of_source in zip(listed, days_of_sources, strict=True):
        counts = count_periods(of_source, interval)
        rows.append(SourceRow(source, number, [counts.get(n, 0) for n in numbers]))
    enriched: dict[str, int] = {}
    for part in _if_visible(lambda: index.status(Summary())["enrichment"]) or ():
        enriched[part["part"]] = enriched.get(part["part"], 0) + part["documents"]
    undated, untitled = index.count(list(LACKING.values()), NO_FILTERS, ByDocument())
    return Holdings(
        collection.documents,
        collection.sentences,
        name_of(min(days), "day") if days else "",
        name_of(max(days), "day") if days else "",
        interval,
        [name_of(n, interval) for n in numbers],
        [
            (name_of(first_day(n, interval), "day"), name_of(first_day(n + 1, interval) - 1, "day"))
            for n in numbers
        ],
        rows,
        undated.documents,
        untitled.documents,
        _most_first(index.status(Languages())),
        _if_visible(lambda: _count_copies(index)),
        dict(sorted(enriched.items())),
    )


def _most_first(languages: Mapping[str | None, int]) -> dict[str | None, int]:
    """The languages of documents by their numbers, ties by code, the undeclared one last."""
    present = ((code, number) for code, number in languages.items() if number)
    return dict(sorted(present, key=lambda of: (of[0] is None, -of[1], of[0] or "")))


def list_lacking(searcher: Searcher, name: str) -> tuple[list[SentenceRecord], int]:
    """The first sentences of some documents that lack something of LACKING, and the number of all such."""
    index = searcher.snapshot().index
    (counted,) = index.count([LACKING[name]], NO_FILTERS, ByDocument())
    first: dict[str, SentenceRecord] = {}
    number = LISTED * 40
    while len(first) < min(LISTED, counted.documents):
        answer = index.select(LACKING[name], number, NO_FILTERS, Hits())
        for record in map(require_record, answer.hits):
            first.setdefault(record.document_id, record)
        if number >= answer.total:
            break
        number *= 4  # long documents: their sentences follow one another
    return list(first.values())[:LISTED], counted.documents


_COARSER: tuple[Interval, ...] = ("week", "month", "year")


def _span(ends: tuple[int, int], interval: Interval) -> int:
    return period_of(ends[1], interval) - period_of(ends[0], interval) + 1


def _count_copies(index: Index) -> int | None:
    """The number of sentences that are copies of earlier ones; None where nobody looked for them."""
    if not index.status(HasCopies()):
        return None
    (total,), (independent,) = (
        index.count([None], filters) for filters in (NO_FILTERS, Filters(independent=True))
    )
    return total - independent


def _if_visible(work: Callable[[], T]) -> T | None:
    """The result, None for those who see only a part of the index."""
    try:
        return work()
    except NotVisible:
        return None
