"""How a query was read: a chip for each group, and notes with their positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from esr.query import ParsedQuery
from esr.query.interpretation import ReadGroup, Reading
from esr.query.query import MESSAGES
from esr.ranking.query_report import QueryReport
from esr.text.written_dates import find_typed_date
from webui.arguments.links import end_of
from webui.arguments.request import SearchRequest
from webui.pages.wording import translate_filled

MAX_IGNORED, MAX_NOTES = 12, 5
"""Maximum numbers of ignored groups and notes to list: a pasted text has many stop words."""


class Chip(NamedTuple):
    """A group of the query, for removal. `query`: the query without it, or None if nothing is left."""

    reading: Reading
    label: str
    query: str | None


class PlacedNote(NamedTuple):
    """A note and the piece of the query it is about."""

    text: str
    message: str


class DatedQuery(NamedTuple):
    """A query with a date in it, read as the other words with a filter by date.

    `date`: the day or the month in ISO 8601; `before`: the beginning of the next one.
    """

    query: str
    date: str
    before: str


def find_date(search: SearchRequest) -> DatedQuery | None:
    """The date in the words of a query, unless the search is limited by date."""
    typed_date = find_typed_date(search.query)
    if typed_date is None or search.is_literal or search.filters.date_from or search.filters.date_to:
        return None
    rest = " ".join((search.query[: typed_date.start] + search.query[typed_date.end :]).split())
    return DatedQuery(rest, typed_date.iso, end_of(typed_date.iso)) if rest else None


@dataclass(frozen=True)
class Understanding:
    """How a query was read, as the page shows it.

    `more_ignored` and `more_notes` count those that are not listed. `has_syntax`: whether the query would
    have another meaning if it were read literally.
    """

    chips: Sequence[Chip]
    more_ignored: int
    notes: Sequence[PlacedNote]
    more_notes: int
    is_literal: bool
    requires_all: bool
    has_syntax: bool
    dated: DatedQuery | None


def describe_understanding(search: SearchRequest, report: QueryReport) -> Understanding:
    """How a query was read; empty for plain words that are all searched for."""
    parsed = search.parsed
    marked = [g for g in report.groups if g.group.role != "wanted"]
    ignored = _distinct(g for g in report.groups if g.reading == "ignored" and g.group.role == "wanted")
    listed = [*marked, *ignored[:MAX_IGNORED]]
    notes = [
        PlacedNote(parsed.text[n.start : n.end], translate_filled(n.message, MESSAGES[n.kind]))
        for n in report.notes
    ]
    return Understanding(
        [_chip(parsed, group) for group in sorted(listed, key=_place)],
        len(ignored[MAX_IGNORED:]),
        notes[:MAX_NOTES],
        len(notes[MAX_NOTES:]),
        search.is_literal,
        search.require_all,
        bool(marked or notes),
        find_date(search),
    )


def _distinct(groups: Iterable[ReadGroup]) -> list[ReadGroup]:
    """The first group of each label."""
    by_label: dict[str, ReadGroup] = {}
    for group in groups:
        by_label.setdefault(group.label, group)
    return list(by_label.values())


def _chip(parsed: ParsedQuery, group: ReadGroup) -> Chip:
    return Chip(group.reading, group.label, parsed.without(group.group) or None)


_ORDER: tuple[Reading, ...] = ("required", "excluded", "ignored")


def _place(group: ReadGroup) -> tuple[int, int]:
    """Sort key: required groups first, then excluded, then ignored ones."""
    return _ORDER.index(group.reading), group.group.start
