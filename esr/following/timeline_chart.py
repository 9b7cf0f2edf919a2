"""The chart of a timeline: where its bars, lines, ticks, gaps and labels stand.

Positions along the time axis are shares of the width, so that a page can stretch a chart without its texts.
Heights are in pixels. A period without any sentence is a gap: nothing could be found in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from math import ceil, floor, log10
from typing import NamedTuple

from esr.following.timeline import Peak, Scale, Timeline
from esr.ranking.answers import require_record
from esr.text.dates import month_of
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
WIDTH = 1180
"""The width in pixels for which labels are placed. On narrower charts they are left out."""
CHAR = 7.6
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
    ticks = choose_ticks(max((value or 0.0 for rates in values for value in rates), default=0.0))
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
    lines = [] if is_single else [list(_segments(rates, step, height)) for rates in values]
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
    distance = max(ceil(len(periods) / _MOST_TICKS), 1)
    if timeline.interval == "day" and len(periods) > 14:  # a day of the week
        distance = ceil(distance / 7) * 7
    chosen = list(range(0, len(periods), distance))
    for place in chosen:
        yield Tick((place + 0.5) * step, axis_date(periods[place], place == chosen[-1]))


def axis_date(period: str, has_year: bool = True) -> str:
    """A period as an axis has it: 13 Feb 2017, 13 Feb, Feb 2017; weeks and years by their names."""
    if "W" in period or len(period) < 7:
        return period
    day = date.fromisoformat(period if len(period) == 10 else f"{period}-01")
    month = month_of(day)[:3]
    words = [month] if len(period) == 7 else [str(day.day), month]
    return " ".join([*words, str(day.year)] if has_year or len(period) == 7 else words)


def written_date(period: str) -> str:
    """A period as a text has it: 13 February 2017, February 2017; weeks and years by their names."""
    if "W" in period or len(period) < 7:
        return period
    day = date.fromisoformat(period if len(period) == 10 else f"{period}-01")
    words = f"{month_of(day)} {day.year}"
    return words if len(period) == 7 else f"{day.day} {words}"


def place_labels(places: Sequence[float], tops: Sequence[float], texts: Sequence[str]) -> list[Label]:
    """Labels for peaks in order of their greatness, numbered in order of time. None overlaps another."""
    order = sorted(range(len(places)), key=lambda n: places[n])
    numbers = {place: number for number, place in enumerate(order, 1)}
    occupied: list[tuple[int, float, float, float]] = []  # row, start, end, and the leader's x
    labels = []
    for n, (x, top, text) in enumerate(zip(places, tops, texts, strict=True)):
        lines = _split_lines(text)
        width = max((len(line) for line in lines), default=0) * CHAR / WIDTH
        for row, anchor in ((r, a) for r in (0, 1) for a in ("start", "end", "middle")):
            start = {"start": x - 0.009, "end": x - width + 0.009, "middle": x - width / 2}[anchor]
            end = start + width
            fits = lines and start >= -0.002 and end <= 1.002
            free = all(
                (row != other or end + 0.012 < low or start - 0.012 > high)
                # The leader of a label of the upper row does not cross one of the lower row.
                and not (row > other and start - 0.006 < leader < end + 0.006)
                and not (row < other and low - 0.006 < x < high + 0.006)
                for other, low, high, leader in occupied
            )
            if fits and free:
                occupied.append((row, start, end, x))
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
