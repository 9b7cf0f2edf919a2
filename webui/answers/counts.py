"""Counts of the sentences of a search: by period, and by the values of a field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from esr.following.timeline import PEAKS, Timeline, build_timeline
from esr.index.contract import Index
from esr.index.filters import FACET_FIELDS, Filters
from esr.index.questions import ByField
from esr.plans.plan import Condition
from esr.ranking.searcher import Searcher
from webui.arguments.request import (
    TimelineRequest,
    check_query,
)
from webui.running.problems import blame_argument
from webui.running.settings import Settings


def make_timeline(
    searcher: Searcher, request: TimelineRequest, settings: Settings, peaks: int = PEAKS
) -> Timeline:
    """The timeline of a request, from one snapshot. Raises RequestError."""
    snapshot = searcher.snapshot()
    prepared = []
    for search in request.searches:
        check_query(snapshot, search.parsed, settings, "q" if search is request.search else "also")
        with blame_argument(None):
            prepared.append(search.prepare(snapshot))
    with blame_argument("interval"):
        return build_timeline(prepared, request.search.filters, request.interval, peaks)


@dataclass(frozen=True)
class ValueCounts:
    """The most frequent values of a field. `has_more`: whether there are others."""

    field: str
    values: Sequence[tuple[str, int]]
    has_more: bool


def count_values(
    index: Index,
    condition: Condition | None,
    filters: Filters,
    size: int,
    fields: Iterable[str] = FACET_FIELDS,
) -> list[ValueCounts]:
    """The most frequent values of each field. Raises EsrError if the engine gives no counts.

    Only sentences that satisfy the condition are counted; None is satisfied by none. A field is counted
    without its own filter, so that further values can be added to that filter.
    """
    if condition is None:
        return [ValueCounts(field, (), False) for field in fields]
    (counts,) = index.count([condition], filters, ByField([*fields], size + 1, without_own=True))
    return [ValueCounts(field, values[:size], len(values) > size) for field, values in counts.items()]
