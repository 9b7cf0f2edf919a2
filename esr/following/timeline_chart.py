"""The chart of a timeline: where its bars, lines, ticks, gaps and labels stand, and an SVG file of it.

Positions along the time axis are shares of the width, so that a page can stretch a chart without its texts.
Heights are in pixels. A period without any sentence is a gap: nothing could be found in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

from esr.following.timeline import Peak, Scale, Timeline
from esr.ranking.answers import require_record
from esr.wording import shorten_title

HEIGHT = 200
"""Pixels of the tallest possible bar."""
LABELS = 92
"""Pixels above it for the labels of peaks: two rows of two lines."""
LABEL_CHARS = 58
"""Maximum characters of a label."""
_ROWS = (16, 57)
"""Where the first line of a label stands, by row, in pixels from the top."""
_LINE = 18
"""Pixels from one line of a label to the next."""
_WIDTH = 1180
"""The width in pixels for which labels are placed. On narrower charts they are left out."""
_CHAR = 7.6
"""Upper estimate of the mean width of a character of a label, in pixels."""
_GAP, _WIDEST = 0.15, 1 / 12
"""The gap between two bars as a share of a period's width, and the maximum width of a bar."""
_MOST_TICKS = 8
UNITS: dict[Scale, str] = {"count": "sentences", "rate": "sentences per million"}


class Tick(NamedTuple):
    """A labelled position: of the value axis in pixels from the top, or of the time axis as a share."""

    at: float
    text: str


class Span(NamedTuple):
    """A part of the time axis, from `start` to `end` as shares of the width."""

    start: float
    end: float


class Bar(NamedTuple):
    """A bar: its left edge and width as shares, and its top in pixels. `is_peak`: it has a label."""

    x: float
    width: float
    top: float
    is_peak: bool


class Label(NamedTuple):
    """The label of a peak: its number, its position `x` as a share, and the top of its value in pixels.

    `lines` is empty if there is no room. `anchor` is where the text is aligned with `x`; `row` is 0 or 1.
    """

    number: int
    x: float
    top: float
    lines: Sequence[str]
    anchor: str
    row: int

    @property
    def baselines(self) -> list[tuple[int, str]]:
        """The lines with their baselines in pixels from the top of the labels."""
        return [(_ROWS[self.row] + n * _LINE, line) for n, line in enumerate(self.lines)]


class StoryChart(NamedTuple):
    """A chart of one or several series. `values` has a value for each period of each, None if unknown.

    `bars` are those of a single series, `lines` the segments of several: x1, y1, x2, y2.
    """

    values: Sequence[Sequence[float | None]]
    bars: Sequence[Bar | None]
    lines: Sequence[Sequence[tuple[float, float, float, float]]]
    gaps: Sequence[Span]
    thin: Sequence[Span]
    y_ticks: Sequence[Tick]
    x_ticks: Sequence[Tick]
    labels: Sequence[Label]


def layout_chart(timeline: Timeline, scale: Scale = "count") -> StoryChart:
    """Place the parts of a chart of counts or rates. `thin`: periods with too few sentences for a rate."""
    values: list[list[float | None]] = [
        list(timeline.rates(series) if scale == "rate" else map(float, series.counts))
        for series in timeline.series
    ]
    step = 1 / max(len(timeline.periods), 1)
    ticks = choose_ticks(max((value or 0.0 for each in values for value in each), default=0.0))
    top = ticks[-1] or 1.0

    def height(value: float | None) -> float:
        return round(HEIGHT - HEIGHT * (value or 0.0) / top, 2)

    is_single = len(values) == 1
    places = {period: n for n, period in enumerate(timeline.periods)}
    peaks = [places[peak.period] for peak in timeline.series[0].peaks] if is_single else []
    width = min(step * (1 - _GAP), _WIDEST)
    bars = [
        Bar((n + 0.5) * step - width / 2, width, height(value), n in peaks) if value else None
        for n, value in enumerate(values[0] if is_single else ())
    ]
    lines = [] if is_single else [list(_segments(each, step, height)) for each in values]
    least = timeline.least_sentences
    is_thin = [scale == "rate" and 0 < number < least for number in timeline.sentences]
    texts = [_label(peak) for peak in timeline.series[0].peaks] if is_single else []
    tops = [height(values[0][place]) for place in peaks]
    return StoryChart(
        values,
        bars,
        lines,
        list(_spans([not number for number in timeline.sentences], step)),
        list(_spans(is_thin, step)),
        [Tick(height(tick), f"{tick:,.10g}") for tick in ticks],
        list(_time_ticks(timeline, step)),
        place_labels([(place + 0.5) * step for place in peaks], tops, texts),
    )


def choose_ticks(greatest: float) -> list[float]:
    """Round values from 0 to at least the greatest, four to six of them where there is room for so many."""
    if greatest <= 0:
        return [0.0, 1.0]
    size = 10.0 ** floor(log10(greatest / 4))
    step = next(n * size for n in (1, 2, 2.5, 5, 10) if greatest / (n * size) <= 5)
    if greatest >= 1 and step < 1:
        step = 1.0
    return [n * step for n in range(ceil(greatest / step - 1e-9) + 1)]


def _spans(flags: Sequence[bool], step: float) -> Iterator[Span]:
    """The runs of periods with a flag."""
    start: int | None = None
    for n, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = n
        elif not flag and start is not None:
            yield Span(start * step, n * step)
            start = None


def _segments(
    values: Sequence[float | None], step: float, height: Callable[[float | None], float]
) -> Iterator[tuple[float, float, float, float]]:
    """The lines between the centres of neighbouring periods with values. A lone one gives a level line."""
    for n, value in enumerate(values):
        after = values[n + 1] if n + 1 < len(values) else None
        before = values[n - 1] if n else None
        if value is None:
            continue
        x, y = (n + 0.5) * step, height(value)
        if after is not None:
            yield x, y, x + step, height(after)
        elif before is None:
            yield x - step / 2, y, x + step / 2, y


def _time_ticks(timeline: Timeline, step: float) -> Iterator[Tick]:
    """Some periods at even distances, the last one with its year."""
    periods = timeline.periods
    every = max(ceil(len(periods) / _MOST_TICKS), 1)
    if timeline.interval == "day" and len(periods) > 14:  # a day of the week
        every = ceil(every / 7) * 7
    chosen = list(range(0, len(periods), every))
    for place in chosen:
        yield Tick((place + 0.5) * step, axis_date(periods[place], place == chosen[-1]))


def axis_date(period: str, has_year: bool = True) -> str:
    """A period as an axis has it: 13 Feb 2017, 13 Feb, Feb 2017; weeks and years by their names."""
    if "W" in period or len(period) < 7:
        return period
    day = date.fromisoformat(period if len(period) == 10 else f"{period}-01")
    words = [f"{day:%b}"] if len(period) == 7 else [str(day.day), f"{day:%b}"]
    return " ".join([*words, str(day.year)] if has_year or len(period) == 7 else words)


def written_date(period: str) -> str:
    """A period as a text has it: 13 February 2017, February 2017; weeks and years by their names."""
    if "W" in period or len(period) < 7:
        return period
    day = date.fromisoformat(period if len(period) == 10 else f"{period}-01")
    return f"{day:%B %Y}" if len(period) == 7 else f"{day.day} {day:%B %Y}"


def place_labels(places: Sequence[float], tops: Sequence[float], texts: Sequence[str]) -> list[Label]:
    """Labels for peaks in order of their greatness, numbered in order of time. None overlaps another."""
    order = sorted(range(len(places)), key=lambda n: places[n])
    numbers = {place: number for number, place in enumerate(order, 1)}
    taken: list[tuple[int, float, float, float]] = []  # row, start, end, and the leader's x
    labels = []
    for n, (x, top, text) in enumerate(zip(places, tops, texts, strict=True)):
        lines = _split_lines(text)
        width = max((len(line) for line in lines), default=0) * _CHAR / _WIDTH
        for row, anchor in ((r, a) for r in (0, 1) for a in ("start", "end", "middle")):
            start = {"start": x - 0.009, "end": x - width + 0.009, "middle": x - width / 2}[anchor]
            end = start + width
            fits = lines and start >= -0.002 and end <= 1.002
            free = all(
                (row != other or end + 0.012 < low or start - 0.012 > high)
                # The leader of a label of the upper row does not cross one of the lower row.
                and not (row > other and start - 0.006 < leader < end + 0.006)
                and not (row < other and low - 0.006 < x < high + 0.006)
                for other, low, high, leader in taken
            )
            if fits and free:
                taken.append((row, start, end, x))
                labels.append(Label(numbers[n], x, top, lines, anchor, row))
                break
        else:
            labels.append(Label(numbers[n], x, top, (), "middle", 1))
    return sorted(labels, key=lambda label: label.number)


def _label(peak: Peak) -> str:
    """The beginning of the peak's sentence."""
    return shorten_title(require_record(peak.hit).text.lstrip("-–—•·*| "), LABEL_CHARS)


def _split_lines(text: str) -> list[str]:
    """A label in one or two lines of about equal length."""
    words = text.split()
    if len(text) < 24 or len(words) < 2:
        return [_isolate(text)] if text else []
    cut = min(range(1, len(words)), key=lambda n: abs(len(" ".join(words[:n])) - len(" ".join(words[n:]))))
    return [_isolate(" ".join(words[:cut])), _isolate(" ".join(words[cut:]))]


def _isolate(text: str) -> str:
    """The text in its own direction, also in a picture of the other one."""
    return f"\u2068{text}\u2069"


# The file

_MARGIN, _LEFT, _HEAD, _FOOT = 24, 44, 34, 58
_STYLE = """
text{font:13px "Noto Sans","Segoe UI",Helvetica,Arial,sans-serif;fill:#5f594f}
.title{font:700 17px Georgia,"Noto Serif",serif;fill:#1b1916}
.label{font:15px Georgia,"Noto Serif",serif;fill:#1b1916}
.bar{fill:#a4474b}.peak{fill:#8c1d24}.gap{fill:#e6e0d5}.foot{fill:#8a8274}.thin{fill:url(#thin)}
.grid{stroke:#ddd6ca}.zero,.leader{stroke:#8a8274}.number{font-weight:700;fill:#fff}
.line{stroke-width:2.2;fill:none;stroke-linecap:round}
.line-0{stroke:#8c1d24}.line-1{stroke:#1b1916;stroke-dasharray:6 4}
.line-2{stroke:#5f594f;stroke-dasharray:2 4}
.line-3{stroke:#a4474b;stroke-dasharray:10 4 2 4}.line-4{stroke:#8a8274}
.line-5{stroke:#1b1916;stroke-width:3.5;stroke-dasharray:1 5}
"""


def draw_svg(timeline: Timeline, scale: Scale = "count") -> str:
    """The chart as an SVG image with a title, a legend and its labels, for print and for other programs."""
    chart = layout_chart(timeline, scale)
    is_single = len(timeline.series) == 1
    head = _HEAD + (LABELS if chart.labels else 14)
    width, height = _WIDTH + _LEFT + 2 * _MARGIN, head + HEIGHT + _FOOT
    x0 = _MARGIN + _LEFT

    def at(share: float) -> str:
        return f"{x0 + share * _WIDTH:.1f}"

    def text(x: object, y: float, words: str, css: str = "", anchor: str = "start") -> str:
        attributes = f' class="{css}"' if css else ""
        return f'<text x="{x}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>{escape(words)}</text>'

    title = ", ".join(series.query for series in timeline.series)
    ends = (
        [written_date(each) for each in (timeline.periods[0], timeline.periods[-1])]
        if timeline.periods
        else []
    )
    said = f"{UNITS[scale]} with all words by {timeline.interval}"
    if ends:
        said += f", {' to '.join(dict.fromkeys(ends))}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img"><title>{escape(title)}: {escape(said)}</title><style>{_STYLE}</style>',
        '<pattern id="thin" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path d="M0 6 6 0" stroke="#c9c1b2"/></pattern>',
        f'<rect width="{width}" height="{height}" fill="#fbf9f5"/>',
        text(_MARGIN, 25, title, "title"),
        text(width - _MARGIN, 25, said, anchor="end"),
    ]
    for kind, spans in (("gap", chart.gaps), ("thin", chart.thin)):
        for start, end in spans:
            across = f'x="{at(start)}" width="{(end - start) * _WIDTH:.1f}"'
            parts.append(f'<rect class="{kind}" {across} y="{head}" height="{HEIGHT}"/>')
            if kind == "gap":
                parts.append(f'<rect class="foot" {across} y="{head + HEIGHT - 3}" height="3"/>')
    for tick in chart.y_ticks:
        y, css = head + tick.at, "grid" if tick.at < HEIGHT else "zero"
        parts.append(f'<line class="{css}" x1="{x0}" x2="{x0 + _WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(text(x0 - 8, y + 4, tick.text, anchor="end"))
    for tick in chart.x_ticks:
        anchor = "start" if tick.at < 0.03 else "end" if tick.at > 0.97 else "middle"
        parts.append(text(at(tick.at), head + HEIGHT + 18, tick.text, anchor=anchor))
    for bar in filter(None, chart.bars):
        css = "peak" if bar.is_peak else "bar"
        parts.append(
            f'<rect class="{css}" x="{at(bar.x)}" width="{bar.width * _WIDTH:.1f}" '
            f'y="{head + bar.top:.1f}" height="{HEIGHT - bar.top:.1f}"/>'
        )
    for n, segments in enumerate(chart.lines):
        for x1, y1, x2, y2 in segments:
            ends_of = f'x1="{at(x1)}" y1="{head + y1:.1f}" x2="{at(x2)}" y2="{head + y2:.1f}"'
            parts.append(f'<line class="line line-{n}" {ends_of}/>')
    for label in chart.labels:
        y = head + label.top
        if label.lines:
            below = _HEAD + label.baselines[-1][0] + 6
            parts.append(
                f'<line class="leader" x1="{at(label.x)}" x2="{at(label.x)}" y1="{below}" y2="{y:.1f}"/>'
            )
        parts.append(f'<circle class="peak" cx="{at(label.x)}" cy="{y:.1f}" r="10"/>')
        parts.append(text(at(label.x), y + 4.5, str(label.number), "number", "middle"))
        x = label.x + {"start": -0.009, "end": 0.009, "middle": 0}[label.anchor]
        parts += [text(at(x), _HEAD + base, line, "label", label.anchor) for base, line in label.baselines]
    y = height - 14
    legend = [] if is_single else [series.query for series in timeline.series]
    x = float(x0)
    for n, query in enumerate(legend):
        parts.append(f'<line class="line line-{n}" x1="{x}" x2="{x + 26}" y1="{y - 4}" y2="{y - 4}"/>')
        parts.append(text(x + 32, y, query))
        x += 60 + len(query) * _CHAR
    notes = [("gap", f"no articles of the {timeline.interval}")] if chart.gaps else []
    notes += [("thin", f"fewer than {timeline.least_sentences:,} sentences: no rate")] if chart.thin else []
    for kind, note in notes:
        parts.append(
            f'<rect class="{kind}" x="{x}" y="{y - 11}" width="13" height="13"/>' + text(x + 19, y, note)
        )
        x += 50 + len(note) * _CHAR
    return "\n".join([*parts, "</svg>"]) + "\n"
