"""Interpolated precision at the eleven points of recall, a line for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from esr.evaluation.measures import Evaluator, mean
from esr.evaluation.qrels import Qrels
from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.evaluation.runs import Scores

RECALL = tuple(n / 10 for n in range(11))
_ENOUGH, _LEAST_ROOM = 0.5, 0.02
Curves = dict[str, tuple[float, ...]]
"""Precision at each point of RECALL by run."""


def curves(qrels: Qrels, runs: Mapping[str, Scores]) -> Curves:
    """The means over all judged topics, as ir_measures computes IPrec@recall."""
    names = [f"IPrec@{recall}" for recall in RECALL]
    evaluator = Evaluator(names, qrels)
    found = {run: evaluator.evaluate(scores) for run, scores in runs.items()}
    return {run: tuple(mean(name, values[name].values()) for name in names) for run, values in found.items()}


def picture(found: Curves) -> Picture:
    return Picture(
        "precision-recall",
        "Precision and recall",
        "Interpolated precision at eleven points of recall, the mean over topics. Higher is better: to the "
        "left the first answers, to the right the last relevant sentence."
        + (" The axis of precision does not begin at 0." if _limits(found)[0] > 0 else ""),
        draw(found),
        rows(found),
    )


def rows(found: Curves) -> Sequence[Sequence[str]]:
    points = [[f"{recall:.1f}"] for recall in RECALL]
    for place, row in enumerate(points):
        row += [f"{values[place]:.4f}" for values in found.values()]
    return [["recall", *found], *points]


def _limits(found: Curves) -> tuple[float, float]:
    """From 0 to 1, or near to the lines if they fill less than half of that."""
    every = [value for values in found.values() for value in values]
    low, high = min(every), max(every)
    if high - low > _ENOUGH:
        return 0.0, 1.02
    room = max(_LEAST_ROOM, (high - low) / 4)
    return max(0.0, low - room), min(1.02, high + room)


@style.styled
def draw(found: Curves) -> Figure:
    height = max(4.2, 0.19 * len(found) + 0.7)
    figure = style.figure(height)
    axes = figure.add_subplot()
    for place, values in enumerate(found.values()):
        how = style.look(place)
        axes.plot(RECALL, values, color=how.color, marker=how.marker, linestyle=how.dashes)
    axes.set(xlabel="recall", ylabel="precision", xlim=(-0.015, 1.015), ylim=_limits(found))
    axes.set_xticks([n / 5 for n in range(6)])
    ends = [values[-1] for values in found.values()]
    style.label_ends(axes, RECALL[-1], ends, [style.short(run) for run in found], height - 0.7)
    return figure
