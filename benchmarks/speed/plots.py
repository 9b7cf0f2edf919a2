"""The pictures of docs/figures.md and the README: latencies by peer, matches and size, recall by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from benchmarks.speed.figures import Figure
from benchmarks.speed.timing import p50, p95
from esr.lab.report.picture_style import DARK, FAINT, SERIES, create_figure, get_style, label_ends, with_style
from esr.lab.report.pictures import Picture, to_svg

BINS = 8
HEIGHT = 4.2
TICKS = tuple(step * 10.0**power for power in range(-3, 8) for step in (1, 2, 5))
Lines = Mapping[str, Sequence[tuple[float, float]]]
"""Points by name, from left to right."""


def write(name: str, drawing: Drawing, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.svg"
    path.write_bytes(to_svg(Picture(name, "", "", drawing)))
    return path


def write_light_and_dark(name: str, drawing: Drawing, folder: Path) -> None:
    """Write the picture for light screens, and NAME-dark for dark ones."""
    text = write(name, drawing, folder).read_text("utf-8")
    for light, dark in DARK.items():
        text = text.replace(light, dark)
    (folder / f"{name}-dark.svg").write_text(text, "utf-8")


PEERS = {"esr": "esr, exact with context (2si)", "tantivy": "tantivy, BM25", "bm25s": "bm25s, BM25"}


@with_style
def plot_peers(figures: Sequence[Figure]) -> Drawing:
    """A bar for the median of each peer and k, with a line to the 95th percentile."""
    drawing = create_figure(0.5 + 1.05 * len(figures))
    for position, figure in enumerate(figures):
        axes = drawing.add_subplot(
            len(figures), 1, position + 1, sharex=drawing.axes[0] if position else None
        )
        medians = [p50(figure["times"][name]) for name in PEERS]
        above = [p95(figure["times"][name]) - median for name, median in zip(PEERS, medians, strict=True)]
        axes.barh(
            list(PEERS.values()),
            medians,
            height=0.6,
            color=[SERIES[0], SERIES[-1], SERIES[-1]],
            xerr=[[0.0] * len(above), above],
            ecolor=FAINT,
        )
        for row, (median, rest) in enumerate(zip(medians, above, strict=True)):
            axes.annotate(
                f"{median:.2f}", (median + rest, row), (5, 0), textcoords="offset points", va="center"
            )
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_title(f"best {figure['key']} sentences")
    drawing.axes[-1].set_xlabel("ms a query: median, and line to the 95th percentile")
    return drawing


def plot_latency_by_matches(figure: Figure) -> Drawing:
    """Medians of matches and times, over bins with equal numbers of queries."""
    order = np.argsort(figure["answers"]["matches"], kind="stable")
    bins = [queries for queries in np.array_split(order, BINS) if len(queries)]
    matches = np.asarray(figure["answers"]["matches"], float)
    lines = {
        name: [
            (max(1.0, float(np.median(matches[queries]))), float(np.median(np.asarray(times)[queries])))
            for queries in bins
        ]
        for name, times in figure["times"].items()
        if name in ("esr", "esr, exhaustive", "bm25s", "tantivy")
    }
    return _draw(lines, "sentences that match", "ms")


def plot_latency_by_size(figures: Sequence[Figure]) -> Drawing:
    """Medians at every size, with one figure for each k."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for figure in figures:
        for size in figure["sizes"]:
            for name in ("esr", "esr, exhaustive", "bm25s", "tantivy"):
                line = lines.setdefault(f"{name}, top {figure['k']}", [])
                sentences = figure["answers"][str(size)]["sentences"]
                line.append((sentences, p50(figure["times"][f"{name} {size}"])))
    return _draw(lines, "sentences", "ms")


@with_style
def plot_recall_by_time(figures: Sequence[Figure]) -> Drawing:
    """The share of the exact answer against time, with one line for each k."""
    drawing = create_figure(HEIGHT)
    axes = drawing.add_subplot()
    for position, figure in enumerate(figures):
        line_style, k = get_style(position), figure["key"]
        points = {
            name: (np.log10(p50(times)), figure["recall"][name]) for name, times in figure["times"].items()
        }
        line = [point for name, point in points.items() if name.startswith("tantivy")]
        axes.plot(
            *zip(*line, strict=True),
            color=line_style.color,
            marker=line_style.marker,
            label=f"BM25 first, top {k}",
        )
        for name, mark in (("esr", "*"), ("esr, own terms only", "P")):
            axes.plot(
                *points[name],
                color=line_style.color,
                marker=mark,
                markersize=10,
                linestyle="",
                label=f"{name}, top {k}",
            )
    _ticks(axes, "x", *axes.get_xlim())
    axes.set(xlabel="ms", ylabel="share of the exact answer")
    axes.legend(frameon=False)
    return drawing


@with_style
def _draw(lines: Lines, x: str, y: str) -> Drawing:
    """Lines on two logarithmic axes, with names at their ends."""
    drawing = create_figure(HEIGHT)
    axes = drawing.add_subplot()
    for position, points in enumerate(lines.values()):
        line_style = get_style(position)
        axes.plot(
            *np.log10(np.array(points)).T,
            color=line_style.color,
            marker=line_style.marker,
            linestyle=line_style.dashes,
        )
    axes.set(xlabel=x, ylabel=y)
    for axis in ("x", "y"):
        _ticks(axes, axis, *getattr(axes, f"get_{axis}lim")())
    ends = [float(np.log10(points[-1][1])) for points in lines.values()]
    last = max(float(np.log10(points[-1][0])) for points in lines.values())
    label_ends(axes, last, ends, list(lines), HEIGHT - 0.7)
    return drawing


def _ticks(axes: Axes, axis: str, low: float, high: float) -> None:
    """Set ticks at 1, 2, 5, 10 and so on, on an axis of logarithms."""
    visible = [tick for tick in TICKS if low <= np.log10(tick) <= high]
    getattr(axes, f"set_{axis}ticks")(
        np.log10(visible), [f"{tick:,g}" if tick < 1e4 else f"{tick:,.0f}" for tick in visible]
    )
    getattr(axes, f"set_{axis}lim")(low, high)
