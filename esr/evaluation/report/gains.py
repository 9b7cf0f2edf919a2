"""What each topic gains or loses against the baseline: bars from the greatest gain to the greatest loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.evaluation.results import ALL, Evaluated
from esr.plans.evidence import Array

_NAMED = 25
_LONGEST = 8
_SHOWN = 5
_FINEST = 0.002
_COLUMNS = 2


class Gains(NamedTuple):
    """A run's differences from the baseline by topic, the greatest first; equal ones by topic."""

    run: str
    topics: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Topics won, tied and lost."""
        won, lost = sum(v > 0 for v in self.values), sum(v < 0 for v in self.values)
        return won, len(self.values) - won - lost, lost


def gains(results: Sequence[Evaluated], measure: str) -> list[Gains]:
    """Of every run but the baseline, which must be there, over the topics that both have a value for."""
    against = next(result for result in results if result.is_baseline)
    theirs = against.values[measure]
    found = []
    for result in results:
        if not result.is_baseline:
            ours = result.values[measure]
            differences = {
                t: ours[t] - theirs[t] for t in result.parts[ALL].topics if t in ours and t in theirs
            }
            order = sorted(differences, key=lambda topic: (-differences[topic], topic))
            found.append(Gains(result.name, tuple(order), tuple(differences[topic] for topic in order)))
    return found


def picture(found: Sequence[Gains], measure: str, baseline: str) -> Picture:
    return Picture(
        "gains",
        f"{measure} of every topic against {baseline}",
        f"Each bar is a topic: its {measure} less that of {baseline}, the greatest gain first. A mean may "
        "come from many small gains or from a few great ones.",
        draw(found, measure),
        rows(found),
    )


def rows(found: Sequence[Gains]) -> Sequence[Sequence[str]]:
    """How each run fares, and the topics at both ends."""
    heads = ["run", "won", "tied", "lost", "gains most", "loses most"]
    return [heads, *([each.run, *map(str, each.counts), *_ends(each)] for each in found)]


def _ends(each: Gains) -> tuple[str, str]:
    pairs = list(zip(each.topics, each.values, strict=True))
    best = [f"{topic} {value:+.2f}" for topic, value in pairs[:_SHOWN] if value > 0]
    worst = [f"{topic} {value:+.2f}" for topic, value in pairs[: -_SHOWN - 1 : -1] if value < 0]
    return ", ".join(best), ", ".join(worst)


@style.styled
def draw(found: Sequence[Gains], measure: str) -> Figure:
    columns = min(_COLUMNS, len(found))
    lines = -(-len(found) // columns)
    figure = style.figure(max(2.6, 2.0 * lines + 0.3))
    panels: list[Axes] = list(figure.subplots(lines, columns, sharey=True, squeeze=False).flat)
    for axes, each in zip(panels, found, strict=False):
        _panel(axes, each)
    for place, axes in enumerate(panels):
        axes.set_visible(place < len(found))
    figure.supylabel(f"difference in {measure}", fontsize="medium")
    return figure


def merged(values: Array) -> tuple[Array, Array]:
    """Falling values as steps and their edges. Neighbours that no eye tells apart become one step."""
    fine = np.round(values / _FINEST)
    starts = np.flatnonzero(np.diff(fine, prepend=np.inf))
    return fine[starts] * _FINEST, np.append(starts, len(values)) - 0.5


def _panel(axes: Axes, each: Gains) -> None:
    number = len(each.values)
    values = np.array(each.values)
    axes.set_xticks([])
    gain, loss = style.SERIES[:2]
    if number <= _NAMED:
        axes.bar(range(number), values, color=[gain if v > 0 else loss for v in values], width=0.8)
        if all(len(topic) <= _LONGEST for topic in each.topics):
            axes.set_xticks(range(number), each.topics, rotation=90, fontsize=7)
    else:
        steps, edges = merged(values)
        axes.stairs(np.maximum(steps, 0), edges, fill=True, color=gain)
        axes.stairs(np.minimum(steps, 0), edges, fill=True, color=loss)
    axes.axhline(0, color=style.FAINT, linewidth=0.8)
    axes.grid(False, axis="x")
    axes.set_xlim(-0.8, number - 0.2)
    won, tied, lost = each.counts
    mean = float(values.mean()) if number else 0.0
    axes.set_title(style.short(each.run))
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
