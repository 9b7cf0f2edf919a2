"""A report as a self-contained HTML page: tables, pictures, and notes about its inputs.

The page has no date, so the same inputs give the same page. It can be read without its script. Colours are
CSS variables: pictures are dark on white in print and on light screens, and light on dark on dark screens.
Colour-blind readers can distinguish the colours; lines also differ in markers and are labelled at their ends.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

import esr
from esr.lab.results import ALL, COMPARISON_HEADS, RunEvaluation, comparison_rows
from esr.plugin.provisional import count

# Tables


def build_measures_table(results: Sequence[RunEvaluation]) -> str:
    """A row for each run and type of topics. The best figure of each column is bold."""
    names = list(results[0].values)
    kinds = list(results[0].groups)
    heads = ["run", "topics", *names]
    bodies = []
    for kind in kinds:
        lines = [] if len(kinds) == 1 else [_band(f"{kind} topics", len(heads))]
        best = {name: _find_best([result.groups[kind].means[name] for result in results]) for name in names}
        for result in results:
            figures = result.groups[kind]
            cells = [f"<td>{len(figures.topics)}</td>"]
            for name, value in figures.means.items():
                mark = figures.significance[name].mark if name in figures.significance else ""
                text = f"<b>{format_figure(value)}</b>" if value == best[name] else format_figure(value)
                cells.append(f'<td>{text}<span class="mark">{mark}</span></td>')
            lines.append(f"<tr>{_head(result)}{''.join(cells)}</tr>")
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return _table(heads, "".join(bodies))


def build_comparisons_table(results: Sequence[RunEvaluation]) -> str:
    """For each measure and run: the difference, its interval and size, p-values, and topics won or lost."""
    heads = ["run", *COMPARISON_HEADS]
    bodies = []
    for name in results[0].values:
        lines = [_band(name, len(heads))]
        for (label, topics, difference, *rest), mark in comparison_rows(results, name):
            cells = "".join(f"<td>{_typeset(cell)}</td>" for cell in rest)
            marked = f'<td>{_typeset(difference)}<span class="mark">{mark}</span></td>'
            lines.append(f'<tr><th scope="row">{escape(label)}</th><td>{topics}</td>{marked}{cells}</tr>')
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return _table(heads, "".join(bodies))


def build_plain_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of text. The first row has the column heads, the first column the row heads."""
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows[1:]
    )
    return _table(rows[0], f"<tbody>{lines}</tbody>")


def _table(heads: Sequence[str], bodies: str) -> str:
    cells = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead>{bodies}</table></div>'


def _band(text: str, columns: int) -> str:
    return f'<tr><th class="band" scope="rowgroup" colspan="{columns}">{escape(text)}</th></tr>'


def _head(result: RunEvaluation) -> str:
    note = ' <span class="note">baseline</span>' if result.is_baseline else ""
    return f'<th scope="row">{escape(result.name)}{note}</th>'


def _typeset(cell: str) -> str:
    """A cell of numbers as HTML, with a proper minus sign or dash."""
    return "–" if cell == "-" else escape(cell.replace("-", "−"))


def _find_best(values: Sequence[float]) -> float:
    """The maximum, or NaN if all values are equal. NaN equals no value, so none is highlighted."""
    numbers = [value for value in values if not math.isnan(value)]
    return max(numbers) if len(set(numbers)) > 1 else math.nan


def format_figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def format_signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


# The style of pictures


PAPER, INK, FAINT, RULE = "#fefefe", "#1b1b1c", "#6a6a6c", "#dcdcde"
SERIES = ("#0072b2", "#c44f00", "#00805d", "#a6458f", "#7a5c00", "#58595c")
DARK = {
    PAPER: "#16181c",
    INK: "#e8e8ea",
    FAINT: "#a3a5aa",
    RULE: "#383b42",
    **dict(zip(SERIES, ("#5cb8ee", "#ff944d", "#3fd0a4", "#e58fd0", "#e3c65b", "#bcbec4"), strict=True)),
}
"""For each colour, its replacement on dark screens."""

_MARKERS = "os^Dvp"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
_MAX_NAME = 36
WIDTH = 7.4

with_style = rc_context(
    {
        "axes.axisbelow": True,
        "axes.edgecolor": FAINT,
        "axes.facecolor": PAPER,
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": INK,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "figure.facecolor": PAPER,
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "grid.color": RULE,
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.6,
        "lines.markersize": 4,
        "savefig.facecolor": "auto",
        "svg.fonttype": "none",
        "svg.hashsalt": "esr",
        "text.color": INK,
        "text.parse_math": False,  # a run may be named a$b$
        "xtick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.color": FAINT,
        "ytick.labelcolor": INK,
    }
)
"""Decorator for functions that draw or save a picture."""


class RunStyle(NamedTuple):
    """The style of a run, the same in every picture."""

    color: str
    marker: str
    dashes: Any


def style_of(position: int) -> RunStyle:
    """The style of the run at a position. With more runs than colours, the dashes vary too."""
    color = position % len(SERIES)
    return RunStyle(SERIES[color], _MARKERS[color], _DASHES[position // len(SERIES) % len(_DASHES)])


def shorten(name: str) -> str:
    """Shorten a name from the left so that it fits into a picture."""
    return name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}"


def create_figure(height: float) -> Figure:
    """An empty figure of this height in inches."""
    return Figure(figsize=(WIDTH, height), layout="constrained")


def create_panels(number: int, columns: int, height: Callable[[int], float]) -> tuple[Figure, Sequence[Axes]]:
    """A figure with `number` panels in at most `columns` columns. `height`: inches by number of rows."""
    columns = min(columns, number)
    rows = -(-number // columns)
    figure = create_figure(height(rows))
    panels: list[Axes] = list(figure.subplots(rows, columns, sharey=True, squeeze=False).flat)
    for axes in panels[number:]:
        axes.set_visible(False)
    return figure, panels[:number]


def spread_labels(targets: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions at least `gap` apart, in the order of the targets and as near to them as possible."""
    order = np.argsort(targets, kind="stable")
    steps = gap * np.arange(len(order))
    fitted = isotonic_regression(np.asarray(targets, dtype=float)[order] - steps).x
    positions = np.empty(len(order))
    positions[order] = np.clip(fitted, low, max(low, high - steps[-1])) + steps
    return [float(position) for position in positions]


def label_ends(axes: Axes, x: float, ends: Sequence[float], texts: Sequence[str], inches: float) -> None:
    """Write the names of lines to the right of the axes, each connected to the end of its line.

    `inches` is the approximate height of the axes. Their limits must be final.
    """
    bottom, top = axes.get_ylim()
    heights = spread_labels([(end - bottom) / (top - bottom) for end in ends], 0.17 / inches, 0, 1)
    for position, (end, height) in enumerate(zip(ends, heights, strict=True)):
        axes.annotate(
            texts[position],
            (x, end),
            (1.07, height),
            textcoords="axes fraction",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": style_of(position).color,
                "linewidth": 0.8,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 2,
            },
        )


# Output formats of pictures


_DPI = 200
_NO_METADATA: dict[str, Any] = {"Date": None, "Creator": None, "Format": None, "Type": None}
_FONTS = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Picture:
    """A figure with its file name, title and caption, and its numbers as rows after a row of heads."""

    name: str
    title: str
    text: str
    figure: Figure
    rows: Sequence[Sequence[str]] = ()


def to_svg(picture: Picture) -> bytes:
    """The picture as an SVG file, in print colours. The same picture gives the same bytes."""
    return _save(picture, "svg", metadata=_NO_METADATA)


def to_png(picture: Picture) -> bytes:
    return _save(picture, "png", dpi=_DPI, metadata={"Software": None})


def to_inline_svg(picture: Picture) -> str:
    """The picture as an <svg> element for a page with several.

    Colours are the variables of `css_variable`.
    """
    text = to_svg(picture).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.S)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'<svg ([^>]*?)(?:width|height)="[^"]*" ', r"<svg \1", text, count=1)
    text = re.sub(r'(<svg [^>]*?)\b(?:width|height)="[^"]*" ', r"\1", text, count=1)
    text = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{picture.name}-", text)
    text = re.sub(r"(?<=: )#[0-9a-f]{6}\b", _to_variable, text)
    text = text.replace("'DejaVu Sans'", _FONTS)
    return text.replace("<svg ", f'<svg role="img" aria-labelledby="{picture.name}-title" ', 1).rstrip()


def css_variable(color: str) -> str:
    """The name of the CSS variable for this colour."""
    return f"--c{color[1:]}"


def _to_variable(match: re.Match[str]) -> str:
    color = match[0]
    return f"var({css_variable(color)})" if color in DARK else color


@with_style
def _save(picture: Picture, format: str, **options: Any) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the font lacks some letters of names
        if picture.figure.get_layout_engine():
            picture.figure.draw_without_rendering()
            picture.figure.set_layout_engine("none")  # a second layout would differ slightly
        picture.figure.savefig(file, format=format, **options)
    return file.getvalue()


# The page


_MARKS = "* differs from {} at 95 %, ** at 99 %: paired two-sided t-test{}. Bold is the best of a column."


@dataclass(frozen=True)
class ReportPage:
    """The contents of a page. `notes` are about problems of topics and runs, `moves` is a section of HTML."""

    title: str
    results: Sequence[RunEvaluation]
    pictures: Sequence[Picture]
    notes: Sequence[str] = field(default=())
    moves: str = ""


def render(report: ReportPage) -> str:
    """Render the page. The same report gives the same page: it contains no date."""
    parts = [
        f"<h1>{escape(report.title)}</h1>",
        f'<p class="faint">{_summarise(report.results)}</p>',
        _render_notes(report.notes),
        _render_tables(report.results),
        *map(_render_picture, report.pictures),
        report.moves,
        f'<p class="faint">Made by esr {escape(esr.__version__)}; measures by ir_measures.</p>',
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(report.title)}</title>\n<style>\n{_render_style()}</style>\n</head>\n"
        f"<body>\n{body}\n<script>\n{_read_beside('page.js')}</script>\n</body>\n</html>\n"
    )


def _render_style() -> str:
    light = " ".join(f"{css_variable(color)}: {color};" for color in DARK)
    dark = " ".join(f"{css_variable(color)}: {other};" for color, other in DARK.items())
    rules = _read_beside("page.css")
    on_dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {dark} }} }}"
    return f":root {{ color-scheme: light; {light} }}\n{on_dark}\n{rules}"


def _read_beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _summarise(results: Sequence[RunEvaluation]) -> str:
    topics = len(results[0].groups[ALL].topics)
    baseline = next((result for result in results if result.is_baseline), None)
    comparison = f", compared with {escape(baseline.name)}" if baseline else ""
    return f"{count(len(results), 'run')} on {count(topics, 'judged topic')}{comparison}."


def _render_notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return f"<h2>Notes</h2>\n<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>"


def _render_tables(results: Sequence[RunEvaluation]) -> str:
    parts = ["<h2>Measures</h2>"]
    baseline = next((result for result in results if result.is_baseline), None)
    has_comparisons = baseline is not None and len(results) > 1
    if baseline and has_comparisons:
        others = len(results) - 1
        correction = f", corrected by Holm over {others} runs" if others > 1 else ""
        parts.append(f"<p>{_MARKS.format(escape(baseline.name), correction)}</p>")
    parts.append(build_measures_table(results))
    if baseline and has_comparisons:
        parts.append(f"<h2>Differences from {escape(baseline.name)}</h2>")
        parts.append(
            "<p>The mean of the topics’ differences, its confidence interval, its size in standard "
            "deviations of the differences (Cohen’s d), the p-values of the paired t-test and of the "
            "randomisation test, each also corrected for the number of runs, and the topics on which the "
            "run is better, equal and worse.</p>"
        )
        parts.append(build_comparisons_table(results))
    return "\n".join(parts)


def _render_picture(picture: Picture) -> str:
    table = build_plain_table(picture.rows) if picture.rows else ""
    numbers = f"<details><summary>The numbers</summary>{table}</details>" if table else ""
    return (
        f'<section class="{picture.name}">\n<h2 id="{picture.name}-title">{escape(picture.title)}</h2>\n'
        f"<figure>\n<figcaption><p>{escape(picture.text)}</p></figcaption>\n{to_inline_svg(picture)}\n</figure>\n"
        f"{numbers}\n</section>"
    )


# Inputs
