"""The picture of gains: those of each topic against the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from esr.lab.report.picture_style import FAINT, SERIES, create_panels, shorten, with_style
from esr.lab.report.pictures import Picture
from esr.lab.results import ALL, RunEvaluation
from esr.plugin.provisional import Array

_MAX_BARS = 25
_MAX_LABEL_LENGTH = 8
_MAX_EXAMPLES = 5
_RESOLUTION = 0.002
_COLUMNS = 2


class Gains(NamedTuple):
    """A run's differences from the baseline by topic, in descending order. Ties are sorted by topic."""

    run: str
    topics: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of topics won, tied and lost."""
        won, lost = sum(v > 0 for v in self.values), sum(v < 0 for v in self.values)
        return won, len(self.values) - won - lost, lost


def compute_gains(results: Sequence[RunEvaluation], measure: str) -> list[Gains]:
    """The gains of every other run over the baseline, which must be among the results.

    Topics without a value for either run are left out.
    """
    baseline = next(result for result in results if result.is_baseline)
    theirs = baseline.values[measure]
    gains = []
    for result in results:
        if not result.is_baseline:
            ours = result.values[measure]
            differences = {
                t: ours[t] - theirs[t] for t in result.groups[ALL].topics if t in ours and t in theirs
            }
            order = sorted(differences, key=lambda topic: (-differences[topic], topic))
            gains.append(Gains(result.name, tuple(order), tuple(differences[topic] for topic in order)))
    return gains


def build_gains(gains: Sequence[Gains], measure: str, baseline: str) -> Picture:
    return Picture(
        "gains",
        f"{measure} of every topic against {baseline}",
        f"Each bar is a topic: its {measure} minus that of {baseline}, in descending order. A mean may "
        "come from many small gains or from a few large ones.",
        draw_gains(gains, measure),
        list_gains(gains),
    )


def list_gains(gains: Sequence[Gains]) -> Sequence[Sequence[str]]:
    """The counts of each run, and the topics with the largest gains and losses."""
    heads = ["run", "won", "tied", "lost", "gains most", "loses most"]
    return [heads, *([g.run, *map(str, g.counts), *_format_ends(g)] for g in gains)]


def _format_ends(gains: Gains) -> tuple[str, str]:
    pairs = list(zip(gains.topics, gains.values, strict=True))
    best = [f"{topic} {value:+.2f}" for topic, value in pairs[:_MAX_EXAMPLES] if value > 0]
    worst = [f"{topic} {value:+.2f}" for topic, value in pairs[: -_MAX_EXAMPLES - 1 : -1] if value < 0]
    return ", ".join(best), ", ".join(worst)


@with_style
def draw_gains(gains: Sequence[Gains], measure: str) -> Figure:
    figure, panels = create_panels(len(gains), _COLUMNS, lambda rows: max(2.6, 2.0 * rows + 0.3))
    for axes, run_gains in zip(panels, gains, strict=True):
        _draw_panel(axes, run_gains)
    figure.supylabel(f"difference in {measure}", fontsize="medium")
    return figure


def merge_steps(values: Array) -> tuple[Array, Array]:
    """Descending values as steps and their edges. Visually equal neighbours are one step."""
    rounded = np.round(values / _RESOLUTION)
    starts = np.flatnonzero(np.diff(rounded, prepend=np.inf))
    return rounded[starts] * _RESOLUTION, np.append(starts, len(values)) - 0.5


def _draw_panel(axes: Axes, gains: Gains) -> None:
    number = len(gains.values)
    values = np.array(gains.values)
    axes.set_xticks([])
    gain, loss = SERIES[:2]
    if number <= _MAX_BARS:
        axes.bar(range(number), values, color=[gain if v > 0 else loss for v in values], width=0.8)
        if all(len(topic) <= _MAX_LABEL_LENGTH for topic in gains.topics):
            axes.set_xticks(range(number), gains.topics, rotation=90, fontsize=7)
    else:
        steps, edges = merge_steps(values)
        axes.stairs(np.maximum(steps, 0), edges, fill=True, color=gain)
        axes.stairs(np.minimum(steps, 0), edges, fill=True, color=loss)
    axes.axhline(0, color=FAINT, linewidth=0.8)
    axes.grid(False, axis="x")
    axes.set_xlim(-0.8, number - 0.2)
    won, tied, lost = gains.counts
    mean = float(values.mean()) if number else 0.0
    axes.set_title(shorten(gains.run))
    axes.set_xlabel(f"mean {mean:+.4f}; {won} won, {tied} tied, {lost} lost", loc="right", fontsize=8)
