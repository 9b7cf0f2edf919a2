"""The page of a timeline: the chart, the central sentence of each peak, and the table.

`esr/following/timeline_chart.py` lays out the chart of this page. Other pages have small
charts, drawn here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from flask import Flask, Response, request

from esr.arguments.tables.counting import SCALES
from esr.arguments.tables.table import PAGE, rows
from esr.following import timeline_chart
from esr.following.timeline import INTERVALS, Peak, Scale, Series, Timeline, timeline_rows
from esr.following.timeline_chart import layout_chart
from esr.following.timeline_svg import draw_svg
from esr.ranking.answers import require_record
from webui.answers import downloads
from webui.answers.articles import find_headings
from webui.answers.counts import make_timeline
from webui.arguments.links import Links, change_arguments
from webui.arguments.request import (
    MAX_QUERIES,
    TimelineRequest,
    decode_arguments,
    parse_timeline,
    split_pairs,
)
from webui.pages.rendering import Highlighter, PageRenderer
from webui.pages.wording import write_period, write_ticks
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import _, current_language, ngettext

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
    """A small chart as a template draws it.

    `ticks`: the labelled periods: the first, a middle and the last one. `top`: the value at the upper edge.
    """

    columns: Sequence[Column]
    ticks: Sequence[str]
    top: str


def draw_chart(timeline: Timeline, scale: Scale) -> Chart:
    """The chart of counts or of rates: bars for a single query, none for several."""
    values = [_values(timeline, series, scale) for series in timeline.series]
    greatest = max((value or 0.0 for of_query in values for value in of_query), default=0.0)
    count = len(timeline.periods)
    step = WIDTH / count if count else WIDTH
    is_single = len(values) == 1
    columns = []
    for n, period in enumerate(timeline.periods):
        texts = [_text(of_query[n], scale) for of_query in values]
        bar = _bar(n, HEIGHT * (values[0][n] or 0.0) / greatest, step) if is_single and values[0][n] else None
        says = _describe(timeline, n, texts, scale)
        columns.append(Column(period, Box(n * step, 0.0, step, HEIGHT), bar, texts, says))
    ticks = [timeline.periods[n] for n in sorted({0, count // 2, count - 1})] if count else []
    return Chart(columns, ticks, _text(greatest, scale))


def _describe(timeline: Timeline, n: int, texts: Sequence[str], scale: Scale) -> str:
    """A period in words: its values, or why it has none."""
    period = write_period(timeline.periods[n])
    number = timeline.sentences[n] if timeline.sentences else 1
    if not number:
        return _("%(period)s: no articles", period=period)
    if scale == "rate" and number < timeline.least_sentences:
        return _("%(period)s: too few articles for a rate", period=period)
    queries = [series.query for series in timeline.series]
    parts = [f"{q} {text}" for q, text in zip(queries, texts, strict=True)] if len(queries) > 1 else texts
    values = _(", ").join(parts)
    if scale == "rate":
        return _("%(period)s: %(values)s per million sentences", period=period, values=values)
    number = round(timeline.series[-1].counts[n])
    return ngettext(
        "%(period)s: %(values)s sentence",
        "%(period)s: %(values)s sentences",
        number,
        period=period,
        values=values,
    )


def _values(timeline: Timeline, series: Series, scale: Scale) -> Sequence[float | None]:
    return timeline.rates(series) if scale == "rate" else list(map(float, series.counts))


def _text(value: float | None, scale: Scale) -> str:
    if value is None:
        return "–"
    is_whole = scale == "count" or value >= 100 or not value
    return current_language().formats.digits(f"{value:,.0f}" if is_whole else f"{value:.3g}")


def _bar(n: int, height: float, step: float) -> Box:
    width = min(step * (1 - _GAP), _WIDEST)
    return Box((n + 0.5) * step - width / 2, HEIGHT - height, width, height)


# The page


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page and its files to the application."""
    app.jinja_env.filters["written_date"] = write_period
    get = partial(indexes.route, app)

    def read() -> TimelineRequest:
        return parse_timeline(decode_arguments(request.query_string, settings, "page", "timeline"))

    @get("/timeline")
    def timeline(visit: Visit) -> Response:
        timeline_request = read()
        searcher = visit.searcher
        drawn = make_timeline(searcher, timeline_request, settings, timeline_request.peaks)
        highlighters = [Highlighter(*search.own_terms(searcher)) for search in timeline_request.searches]
        return render(
            visit,
            "timeline.html",
            search=timeline_request.search,
            asked=timeline_request,
            timeline=drawn,
            chart=draw_chart(drawn, timeline_request.scale),
            story=write_ticks(layout_chart(drawn, timeline_request.scale), drawn.periods),
            sizes=timeline_chart,
            events=order_events(drawn),
            scales=SCALES,
            intervals=INTERVALS,
            highlighters=highlighters,
            headings=find_headings(
                searcher.index,
                [require_record(peak.hit) for series in drawn.series for peak in series.peaks],
            ),
            own=TimelineLinks(
                [pair for pair in split_pairs(request.query_string, settings) if pair[1].strip()]
            ),
            can_add=len(timeline_request.searches) < MAX_QUERIES,
        )

    @get("/timeline.svg")
    def timeline_svg(visit: Visit) -> Response:
        timeline_request = read()
        drawn = make_timeline(
            visit.searcher,
            timeline_request,
            settings,
            timeline_request.peaks if not timeline_request.others else 0,
        )
        return downloads.image_file(draw_svg(drawn, timeline_request.scale), "timeline.svg")

    @get("/timeline.csv")
    def timeline_csv(visit: Visit) -> Response:
        timeline_request = read()
        return downloads.timeline_csv(
            timeline_rows(make_timeline(visit.searcher, timeline_request, settings, peaks=0))
        )


def order_events(timeline: Timeline) -> list[Sequence[tuple[int, Peak]]]:
    """The peaks of each query in the order of time, with their numbers in the chart."""
    return [
        list(enumerate(sorted(series.peaks, key=lambda peak: timeline.periods.index(peak.period)), 1))
        for series in timeline.series
    ]


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
