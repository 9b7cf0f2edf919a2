"""The chart of a timeline as an SVG file, for print and for other programs."""

from __future__ import annotations

import html
from collections.abc import Iterator

from esr.following.timeline import Scale, Timeline
from esr.following.timeline_chart import CHAR, HEIGHT, LABELS, UNITS, WIDTH, layout_chart, written_date
from esr.wording import remove_non_xml

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
    return "\n".join([*_Drawing(timeline, scale).elements(), "</svg>"]) + "\n"


class _Drawing:
    """The elements of an image."""

    def __init__(self, timeline: Timeline, scale: Scale) -> None:
        self._timeline, self._scale = timeline, scale
        self._chart = layout_chart(timeline, scale)
        self._head = _HEAD + (LABELS if self._chart.labels else 14)
        """The top of the tallest possible bar."""
        self._left = _MARGIN + _LEFT
        self._width, self._height = WIDTH + _LEFT + 2 * _MARGIN, self._head + HEIGHT + _FOOT

    def elements(self) -> Iterator[str]:
        """The elements in the order in which they cover one another."""
        yield from self._titles()
        yield from self._gaps()
        yield from self._axes()
        yield from self._values()
        yield from self._labels()
        yield from self._legend()

    def _at(self, share: float) -> str:
        return f"{self._left + share * WIDTH:.1f}"

    def _titles(self) -> Iterator[str]:
        width, height = self._width, self._height
        title = ", ".join(series.query for series in self._timeline.series)
        periods = self._timeline.periods
        ends = [written_date(period) for period in (periods[0], periods[-1])] if periods else []
        contents = f"{UNITS[self._scale]} with all words by {self._timeline.interval}"
        if ends:
            contents += f", {' to '.join(dict.fromkeys(ends))}"
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img"><title>{_escape(title)}: {_escape(contents)}</title>'
            f"<style>{_STYLE}</style>"
        )
        yield (
            '<pattern id="thin" width="6" height="6" patternUnits="userSpaceOnUse">'
            '<path d="M0 6 6 0" stroke="#c9c1b2"/></pattern>'
        )
        yield f'<rect width="{width}" height="{height}" fill="#fbf9f5"/>'
        yield _text(_MARGIN, 25, title, "title")
        yield _text(width - _MARGIN, 25, contents, anchor="end")

    def _gaps(self) -> Iterator[str]:
        for kind, spans in (("gap", self._chart.gaps), ("thin", self._chart.thin)):
            for start, end in spans:
                across = f'x="{self._at(start)}" width="{(end - start) * WIDTH:.1f}"'
                yield f'<rect class="{kind}" {across} y="{self._head}" height="{HEIGHT}"/>'
                if kind == "gap":
                    yield f'<rect class="foot" {across} y="{self._head + HEIGHT - 3}" height="3"/>'

    def _axes(self) -> Iterator[str]:
        left, right = self._left, self._left + WIDTH
        for tick in self._chart.y_ticks:
            y, css = self._head + tick.at, "grid" if tick.at < HEIGHT else "zero"
            yield f'<line class="{css}" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield _text(left - 8, y + 4, tick.text, anchor="end")
        for tick in self._chart.x_ticks:
            anchor = "start" if tick.at < 0.03 else "end" if tick.at > 0.97 else "middle"
            yield _text(self._at(tick.at), self._head + HEIGHT + 18, tick.text, anchor=anchor)

    def _values(self) -> Iterator[str]:
        for bar in filter(None, self._chart.bars):
            css = "peak" if bar.is_peak else "bar"
            yield (
                f'<rect class="{css}" x="{self._at(bar.x)}" width="{bar.width * WIDTH:.1f}" '
                f'y="{self._head + bar.top:.1f}" height="{HEIGHT - bar.top:.1f}"/>'
            )
        for n, segments in enumerate(self._chart.lines):
            for x1, y1, x2, y2 in segments:
                start = f'x1="{self._at(x1)}" y1="{self._head + y1:.1f}"'
                yield (
                    f'<line class="line line-{n}" {start} x2="{self._at(x2)}" y2="{self._head + y2:.1f}"/>'
                )

    def _labels(self) -> Iterator[str]:
        for label in self._chart.labels:
            x, y = self._at(label.x), self._head + label.top
            if label.lines:
                below = _HEAD + label.baselines[-1][0] + 6
                yield f'<line class="leader" x1="{x}" x2="{x}" y1="{below}" y2="{y:.1f}"/>'
            yield f'<circle class="peak" cx="{x}" cy="{y:.1f}" r="10"/>'
            yield _text(x, y + 4.5, str(label.number), "number", "middle")
            edge = self._at(label.x + {"start": -0.009, "end": 0.009, "middle": 0}[label.anchor])
            for base, line in label.baselines:
                yield _text(edge, _HEAD + base, line, "label", label.anchor)

    def _legend(self) -> Iterator[str]:
        x, y, series = float(self._left), self._height - 14, self._timeline.series
        for n, query in enumerate([line.query for line in series] if len(series) > 1 else []):
            yield f'<line class="line line-{n}" x1="{x}" x2="{x + 26}" y1="{y - 4}" y2="{y - 4}"/>'
            yield _text(x + 32, y, query)
            x += 60 + len(query) * CHAR
        for kind, note in self._notes():
            yield (
                f'<rect class="{kind}" x="{x}" y="{y - 11}" width="13" height="13"/>' + _text(x + 19, y, note)
            )
            x += 50 + len(note) * CHAR

    def _notes(self) -> Iterator[tuple[str, str]]:
        if self._chart.gaps:
            yield "gap", f"no articles of the {self._timeline.interval}"
        if self._chart.thin:
            yield "thin", f"fewer than {self._timeline.least_sentences:,} sentences: no rate"


def _escape(text: str) -> str:
    return html.escape(remove_non_xml(text))


def _text(x: object, y: float, words: str, css: str = "", anchor: str = "start") -> str:
    attributes = f' class="{css}"' if css else ""
    return f'<text x="{x}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>{_escape(words)}</text>'
