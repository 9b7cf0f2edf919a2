"""The page of a timeline: the chart, a table of it, and the best sentence of each peak."""

from __future__ import annotations

from flask import Flask, Response, request

from esr.following.periods import INTERVALS
from esr.following.timeline import timeline_rows
from esr.ranking.searcher import Searcher
from webui.answers import downloads
from webui.answers.query_timeline import make_timeline
from webui.arguments.links import Links
from webui.arguments.names import SEARCH_ARGUMENTS, TIMELINE_ARGUMENTS
from webui.arguments.query_string import decode_arguments, split_pairs
from webui.arguments.timeline_request import MAX_QUERIES, SCALES, TimelineRequest, parse_timeline
from webui.pages.highlighting import Highlighter
from webui.pages.renderer import PageRenderer
from webui.pages.timeline_chart import draw_chart
from webui.running.settings import Settings


def install(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    """Add the page to the application."""

    def read() -> TimelineRequest:
        names = [*SEARCH_ARGUMENTS, *TIMELINE_ARGUMENTS]
        return parse_timeline(decode_arguments(request.query_string, settings, names), settings)

    @app.get("/timeline")
    def timeline() -> Response:
        asked = read()
        made = make_timeline(searcher, asked, settings)
        highlighters = [
            Highlighter(searcher.index.analyzer, searcher.terms(search.parsed)) for search in asked.searches
        ]
        return render(
            "timeline.html",
            search=asked.search,
            asked=asked,
            timeline=made,
            chart=draw_chart(made, asked.scale),
            scales=SCALES,
            intervals=INTERVALS,
            highlighters=highlighters,
            own=TimelineLinks(
                [pair for pair in split_pairs(request.query_string, settings) if pair[1].strip()]
            ),
            can_add=len(asked.searches) < MAX_QUERIES,
        )

    @app.get("/timeline.csv")
    def timeline_csv() -> Response:
        return downloads.timeline_csv(timeline_rows(make_timeline(searcher, read(), settings, peaks=0)))


class TimelineLinks(Links):
    """The addresses that differ from this timeline in some arguments."""

    def back(self) -> str:
        """The search of the first query."""
        return self.to("results", **dict.fromkeys(TIMELINE_ARGUMENTS))

    def within(self, first: str, last: str) -> str:
        """The timeline of these periods alone."""
        return self.to("timeline", **{"from": first, "to": last})

    def sentences(self, query: str, first: str, last: str) -> str:
        """The sentences that count of a query in these periods."""
        own: dict[str, str | None] = dict.fromkeys(TIMELINE_ARGUMENTS)
        return self.to("results", **own | {"q": query, "from": first, "to": last, "require": "all"})

    def document(self, query: str, document_id: str) -> str:
        """A document, with the scores of its sentences for a query."""
        own: dict[str, str | None] = dict.fromkeys(TIMELINE_ARGUMENTS)
        return self.to("document", **own | {"q": query, "id": document_id})

    def without_query(self, place: int) -> str:
        """Without one of the other queries."""
        others = [n for n, (name, _) in enumerate(self.arguments) if name == "also"]
        return Links([pair for n, pair in enumerate(self.arguments) if n != others[place]]).to("timeline")
