"""The page of a timeline: the chart, its table, and the best sentence of each peak.

The chart has bars for a single query, and lines for several.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from flask import Flask, Response, request

from esr.arguments.tables.counting import SCALES
from esr.arguments.tables.table import PAGE, rows
from esr.following.timeline import INTERVALS, Series, Timeline, timeline_rows
from esr.ranking.answers import require_record
from webui.answers import downloads
from webui.answers.counts import make_timeline
from webui.arguments.form import Links, change_arguments
from webui.arguments.request import (
    MAX_QUERIES,
    TimelineRequest,
    decode_arguments,
    parse_timeline,
    split_pairs,
)
from webui.pages.headings import find_headings
from webui.pages.rendering import Highlighter, PageRenderer
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings

# The chart

WIDTH, HEIGHT = 1000.0, 200.0
"""The size of the drawing in its own units. The page stretches it."""
_GAP = 0.15
"""The gap between two bars as a share of a period's width."""
_WIDEST = WIDTH / 12
"""The maximum width of a bar."""


class Box(NamedTuple):
    """A rectangle of the drawing. A template renders it as SVG attributes."""

    x: float
    y: float
    width: float
    height: float

    def __html__(self) -> str:
        return 'x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"'.format(*self)


class Column(NamedTuple):
    """A period of the chart. `reach`: the area that reacts to a pointer; `bar`: its bar, or None.

    `values`: a text for each query; `says`: a description of the column.
    """

    period: str
    reach: Box
    bar: Box | None
    values: Sequence[str]
    says: str


class Chart(NamedTuple):
    """The chart as a template draws it. `lines`: the points of polylines; empty for a single query.

    `ticks`: the labelled periods: the first, a middle and the last one. `top`: the value at the upper edge.
    """

    columns: Sequence[Column]
    lines: Sequence[str]
    ticks: Sequence[str]
    top: str


def draw_chart(timeline: Timeline, scale: str) -> Chart:
    """The chart of counts or of rates."""
    values = [_values(timeline, series, scale) for series in timeline.series]
    greatest = max((value for of_query in values for value in of_query), default=0.0)
    count = len(timeline.periods)
    step = WIDTH / count if count else WIDTH
    heights = [[HEIGHT * value / greatest if greatest else 0.0 for value in each] for each in values]
    is_single = len(heights) == 1
    columns = []
    for n, period in enumerate(timeline.periods):
        texts = [_text(of_query[n], scale) for of_query in values]
        queries = [series.query for series in timeline.series]
        parts = texts if is_single else [f"{q} {text}" for q, text in zip(queries, texts, strict=True)]
        unit = SCALES[scale] if texts[-1] != "1" or scale != "count" else "sentence"
        says = f"{period}: {', '.join(parts)} {unit}"
        bar = _bar(n, heights[0][n], step) if is_single and heights[0][n] else None
        columns.append(Column(period, Box(n * step, 0.0, step, HEIGHT), bar, texts, says))
    lines = [] if is_single else [_points(of_query, step) for of_query in heights]
    ticks = [timeline.periods[n] for n in sorted({0, count // 2, count - 1})] if count else []
    return Chart(columns, lines, ticks, _text(greatest, scale))


def _values(timeline: Timeline, series: Series, scale: str) -> Sequence[float]:
    return timeline.rates(series) if scale == "rate" else list(map(float, series.counts))


def _text(value: float, scale: str) -> str:
    return f"{value:,.0f}" if scale == "count" or value >= 100 or not value else f"{value:.3g}"


def _bar(n: int, height: float, step: float) -> Box:
    width = min(step * (1 - _GAP), _WIDEST)
    return Box((n + 0.5) * step - width / 2, HEIGHT - height, width, height)


def _points(heights: Sequence[float], step: float) -> str:
    """The points of a line through the centres of the columns. A single column gives a level line."""
    places = [((n + 0.5) * step, height) for n, height in enumerate(heights)]
    if len(places) == 1:
        places = [(0.0, heights[0]), (WIDTH, heights[0])]
    return " ".join(f"{x:.1f},{HEIGHT - height:.1f}" for x, height in places)


# The page


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page to the application."""
    get = partial(indexes.route, app)

    def read() -> TimelineRequest:
        return parse_timeline(decode_arguments(request.query_string, settings, "page", "timeline"))

    @get("/timeline")
    def timeline(visit: Visit) -> Response:
        asked = read()
        searcher = visit.searcher
        made = make_timeline(searcher, asked, settings, asked.peaks)
        highlighters = [Highlighter(*search.own_terms(searcher)) for search in asked.searches]
        return render(
            visit,
            "timeline.html",
            search=asked.search,
            asked=asked,
            timeline=made,
            chart=draw_chart(made, asked.scale),
            scales=SCALES,
            intervals=INTERVALS,
            highlighters=highlighters,
            headings=find_headings(
                searcher.index,
                [require_record(peak.hit) for series in made.series for peak in series.peaks],
            ),
            own=TimelineLinks(
                [pair for pair in split_pairs(request.query_string, settings) if pair[1].strip()]
            ),
            can_add=len(asked.searches) < MAX_QUERIES,
        )

    @get("/timeline.csv")
    def timeline_csv(visit: Visit) -> Response:
        asked = read()
        return downloads.timeline_csv(timeline_rows(make_timeline(visit.searcher, asked, settings, peaks=0)))


_OWN: dict[str, str | None] = dict.fromkeys(rows("timeline").keys() - PAGE.keys())
"""Arguments that only timelines have, to be removed."""


class TimelineLinks(Links):
    """Links from a timeline: to changed timelines, and to the sentences that it counts."""

    def to_search(self, query: str | None = None) -> Links:
        """Links from the search for the first or another query, without the arguments of timelines."""
        changes = _OWN if query is None else _OWN | {"q": query}
        return Links(change_arguments(self.arguments, **changes))

    def within(self, after: str, before: str) -> str:
        """The timeline between these dates only."""
        return self.to("timeline", after=after, before=before)

    def sentences(self, query: str, period: str) -> str:
        """The sentences that are counted for a query in this period."""
        return self.during("results", period, **_OWN | {"q": query, "require": "all"})
