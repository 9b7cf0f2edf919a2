"""The style of pictures: colours, lines, labels and sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

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

_SETTINGS: Any = {
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


def with_style(draw: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Draw in this style, whatever the settings of matplotlib are: a decorator."""
    return rc_context(_SETTINGS)(draw)


class RunStyle(NamedTuple):
    """The style of a run, the same in every picture."""

    color: str
    marker: str
    dashes: Any


def get_style(position: int) -> RunStyle:
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
                "color": get_style(position).color,
                "linewidth": 0.8,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 2,
            },
        )
