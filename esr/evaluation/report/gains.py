"""Gains and losses of each topic against the baseline, as bars in descending order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.evaluation.results import ALL, RunEvaluation
from esr.plans.evidence import Array

_MAX_BARS = 25
_MAX_LABEL_LENGTH = 8
_MAX_EXAMPLES = 5
_RESOLUTION = 0.002
_COLUMNS = 2


class Gains(NamedTuple):
    """A run's differences from the baseline by topic, in descending order; ties are sorted by topic."""

    run: str
    topics: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Topics won, tied and lost."""
        won, lost = sum(v > 0 for v in self.values), sum(v < 0 for v in self.values)
        return won, len(self.values) - won - lost, lost


def compute_gains(results: Sequence[RunEvaluation], measure: str) -> list[Gains]:
    """The gains of every run over the baseline, which must be among the results.

    Only topics for which both have a value count.
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


def build_picture(gains: Sequence[Gains], measure: str, baseline: str) -> Picture:
    return Picture(
        "gains",
        f"{measure} of every topic against {baseline}",
        f"Each bar is a topic: its {measure} minus that of {baseline}, in descending order. A mean may "
        "come from many small gains or from a few large ones.",
        draw(gains, measure),
        build_rows(gains),
    )


def build_rows(gains: Sequence[Gains]) -> Sequence[Sequence[str]]:
    """The counts of each run, and the topics at both ends."""
    heads = ["run", "won", "tied", "lost", "gains most", "loses most"]
    return [heads, *([g.run, *map(str, g.counts), *_format_ends(g)] for g in gains)]


def _format_ends(gains: Gains) -> tuple[str, str]:
    pairs = list(zip(gains.topics, gains.values, strict=True))
    best = [f"{topic} {value:+.2f}" for topic, value in pairs[:_MAX_EXAMPLES] if value > 0]
    worst = [f"{topic} {value:+.2f}" for topic, value in pairs[: -_MAX_EXAMPLES - 1 : -1] if value < 0]
    return ", ".join(best), ", ".join(worst)


@style.with_style
def draw(gains: Sequence[Gains], measure: str) -> Figure:
    columns = min(_COLUMNS, len(gains))
    rows = -(-len(gains) // columns)
    figure = style.create_figure(max(2.6, 2.0 * rows + 0.3))
    panels: list[Axes] = list(figure.subplots(rows, columns, sharey=True, squeeze=False).flat)
    for axes, run_gains in zip(panels, gains, strict=False):
        _draw_panel(axes, run_gains)
    for position, axes in enumerate(panels):
        axes.set_visible(position < len(gains))
    figure.supylabel(f"difference in {measure}", fontsize="medium")
    return figure


def merge_steps(values: Array) -> tuple[Array, Array]:
    """Descending values as steps and their edges. Indistinguishable neighbours become one step."""
    rounded = np.round(values / _RESOLUTION)
    starts = np.flatnonzero(np.diff(rounded, prepend=np.inf))
    return rounded[starts] * _RESOLUTION, np.append(starts, len(values)) - 0.5


def _draw_panel(axes: Axes, gains: Gains) -> None:
    number = len(gains.values)
    values = np.array(gains.values)
    axes.set_xticks([])
    gain, loss = style.SERIES[:2]
    if number <= _MAX_BARS:
        axes.bar(range(number), values, color=[gain if v > 0 else loss for v in values], width=0.8)
        if all(len(topic) <= _MAX_LABEL_LENGTH for topic in gains.topics):
            axes.set_xticks(range(number), gains.topics, rotation=90, fontsize=7)
    else:
        steps, edges = merge_steps(values)
        axes.stairs(np.maximum(steps, 0), edges, fill=True, color=gain)
        axes.stairs(np.minimum(steps, 0), edges, fill=True, color=loss)
    axes.axhline(0, color=style.FAINT, linewidth=0.8)
    axes.grid(False, axis="x")
    axes.set_xlim(-0.8, number - 0.2)
    won, tied, lost = gains.counts
    mean = float(values.mean()) if number else 0.0
    axes.set_title(style.shorten(gains.run))
    for line, text in enumerate((f"mean {mean:+.4f}", f"{won} won, {tied} tied, {lost} lost")):
        axes.annotate(
            text,
            (1, 1),
            (-4, -6 - 11 * line),
            "axes fraction",
            "offset points",
            ha="right",
            va="top",
            fontsize=8,
        )
