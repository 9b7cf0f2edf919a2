"""The timeline of a request."""

from __future__ import annotations

from esr.following.timeline import PEAKS, Timeline, build_timeline
from esr.ranking.searcher import Searcher
from webui.arguments.query_check import check_query
from webui.arguments.timeline_request import TimelineRequest
from webui.running.request_errors import blame_argument
from webui.running.settings import Settings


def make_timeline(
    searcher: Searcher, request: TimelineRequest, settings: Settings, peaks: int = PEAKS
) -> Timeline:
    """All of it on one state of the index. Raises RequestError."""
    snapshot = searcher.snapshot()
    prepared = []
    for search in request.searches:
        check_query(snapshot, search.parsed, settings, "q" if search is request.search else "also")
        with blame_argument(None):
            prepared.append(search.prepare(snapshot))
    with blame_argument("interval"):
        return build_timeline(prepared, request.search.filters, request.interval, peaks)
