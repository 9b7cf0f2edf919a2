"""How all pictures look: colours that colour-blind readers tell apart, and names beside the lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

PAPER, INK, FAINT, RULE = "#fefefe", "#1b1b1c", "#6a6a6c", "#dcdcde"
SERIES = ("#0072b2", "#c44f00", "#00805d", "#a6458f", "#7a5c00", "#58595c")
DARK = {
    PAPER: "#16181c",
    INK: "#e8e8ea",
    FAINT: "#a3a5aa",
    RULE: "#383b42",
    **dict(zip(SERIES, ("#5cb8ee", "#ff944d", "#3fd0a4", "#e58fd0", "#e3c65b", "#bcbec4"), strict=True)),
}
"""What stands for each colour on a dark screen."""

_MARKERS = "os^Dvp"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
_LONGEST = 36
WIDTH = 7.4

styled = rc_context(
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
        "text.parse_math": False,  # a run may be called a$b$
        "xtick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.color": FAINT,
        "ytick.labelcolor": INK,
    }
)
"""Decorates what draws or saves a picture."""


class Look(NamedTuple):
    """How a run is drawn, the same in every picture."""

    color: str
    marker: str
    dashes: Any


def look(place: int) -> Look:
    """Of the run at a place. More runs than colours go on with other dashes."""
    color = place % len(SERIES)
    return Look(SERIES[color], _MARKERS[color], _DASHES[place // len(SERIES) % len(_DASHES)])


def short(name: str) -> str:
    """A name for a picture, in which a long one has no room."""
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"


def figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure of so many inches."""
    return Figure(figsize=(width, height), layout="constrained")


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places at least `gap` apart, in the order of the wanted ones and as near to them as can be."""
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(order))
    fitted = isotonic_regression(np.asarray(wanted, dtype=float)[order] - steps).x
    placed = np.clip(fitted, low, max(low, high - steps[-1])) + steps
    found = np.empty(len(order))
    found[order] = placed
    return [float(place) for place in found]


def label_ends(axes: Axes, x: float, ends: Sequence[float], texts: Sequence[str], inches: float) -> None:
    """Write the names of lines to the right of the axes, each tied to the end of its line.

    `inches` is about how high the axes are. Their limits must be final.
    """
    bottom, top = axes.get_ylim()
    heights = [(end - bottom) / (top - bottom) for end in ends]
    for place, (end, height) in enumerate(zip(ends, spread(heights, 0.17 / inches, 0, 1), strict=True)):
        axes.annotate(
            texts[place],
            (x, end),
            (1.07, height),
            textcoords="axes fraction",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": look(place).color,
                "linewidth": 0.8,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 2,
            },
        )
