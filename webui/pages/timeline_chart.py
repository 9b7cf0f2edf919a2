"""The chart of a timeline: bars for one query, a line for each of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from esr.following.timeline import Series, Timeline
from webui.arguments.timeline_request import SCALES, Scale

WIDTH, HEIGHT = 1000.0, 200.0
"""The drawing's size in its own units; a page stretches it."""
_GAP = 0.15
"""The share of a period's width between two bars."""


class Box(NamedTuple):
    """A rectangle of the drawing."""

    x: float
    y: float
    width: float
    height: float


class Column(NamedTuple):
    """A period of the chart. `reach` is what a pointer can hit of it, `bar` None where there is nothing.

    `values` are texts, one for each query; `says` names all of it in words.
    """

    period: str
    reach: Box
    bar: Box | None
    values: Sequence[str]
    says: str


class Chart(NamedTuple):
    """`top` is the value at the top. `lines` are the points of polylines, none for a single query.

    `ticks` are the periods that are named below: the first, one in the middle and the last.
    """

    columns: Sequence[Column]
    lines: Sequence[str]
    ticks: Sequence[str]
    top: str


def draw_chart(timeline: Timeline, scale: Scale) -> Chart:
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
        says = f"{period}: {', '.join(parts)} {SCALES[scale]}"
        bar = _bar(n, heights[0][n], step) if is_single and heights[0][n] else None
        columns.append(Column(period, Box(n * step, 0.0, step, HEIGHT), bar, texts, says))
    lines = [] if is_single else [_points(of_query, step) for of_query in heights]
    ticks = [timeline.periods[n] for n in sorted({0, count // 2, count - 1})] if count else []
    return Chart(columns, lines, ticks, _text(greatest, scale))


def _values(timeline: Timeline, series: Series, scale: Scale) -> Sequence[float]:
    return timeline.rates(series) if scale == "rate" else list(map(float, series.counts))


def _text(value: float, scale: Scale) -> str:
    return f"{value:,.0f}" if scale == "count" or value >= 100 or not value else f"{value:.3g}"


def _bar(n: int, height: float, step: float) -> Box:
    return Box(n * step + step * _GAP / 2, HEIGHT - height, step * (1 - _GAP), height)


def _points(heights: Sequence[float], step: float) -> str:
    """A line through the middles of the columns. A single one is a level line."""
    places = [((n + 0.5) * step, height) for n, height in enumerate(heights)]
    if len(places) == 1:
        places = [(0.0, heights[0]), (WIDTH, heights[0])]
    return " ".join(f"{x:.1f},{HEIGHT - height:.1f}" for x, height in places)
