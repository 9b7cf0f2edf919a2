"""How a query was read, as the page says it: what is required, excluded and ignored, each to be removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from esr.queries import ParsedQuery
from esr.queries.understanding import ReadGroup, Reading
from esr.ranking.query_report import QueryReport
from webui.arguments.search_request import SearchRequest

MAX_IGNORED, MAX_NOTES = 12, 5
"""Ignored groups and notes that are listed: a pasted text has many stop words."""


class Chip(NamedTuple):
    """A group of the query. `query`: the query without it, or None if nothing is left."""

    reading: Reading
    label: str
    query: str | None


class PlacedNote(NamedTuple):
    """A note, and the piece of the query that it is about."""

    text: str
    message: str


@dataclass(frozen=True)
class Understanding:
    """`more_ignored` and `more_notes` say how many are left out.

    `has_syntax`: without syntax, the query would say something else.
    """

    chips: Sequence[Chip]
    more_ignored: int
    notes: Sequence[PlacedNote]
    more_notes: int
    is_literal: bool
    requires_all: bool
    has_syntax: bool


def describe_understanding(search: SearchRequest, report: QueryReport) -> Understanding:
    """What is worth saying. About a query of words that are all searched for, that is nothing."""
    parsed = search.parsed
    marked = [g for g in report.groups if g.group.role != "wanted"]
    ignored = _distinct(g for g in report.groups if g.reading == "ignored" and g.group.role == "wanted")
    listed = [*marked, *ignored[:MAX_IGNORED]]
    notes = [PlacedNote(parsed.text[n.start : n.end], n.message) for n in report.notes]
    return Understanding(
        [_chip(parsed, group) for group in sorted(listed, key=_place)],
        len(ignored[MAX_IGNORED:]),
        notes[:MAX_NOTES],
        len(notes[MAX_NOTES:]),
        search.is_literal,
        search.require_all,
        bool(marked or notes),
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
    """What is required comes first, then what is excluded, then what is ignored."""
    return _ORDER.index(group.reading), group.group.start
