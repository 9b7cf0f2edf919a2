"""Interpolated precision at eleven points of recall, one line per run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from esr.evaluation.measures import Evaluator, mean
from esr.evaluation.qrels import Qrels
from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.evaluation.runs import Scores

RECALL = tuple(n / 10 for n in range(11))
_MIN_SPAN, _MIN_MARGIN = 0.5, 0.02
Curves = dict[str, tuple[float, ...]]
"""Precision at each point of RECALL by run."""


def compute_curves(qrels: Qrels, runs: Mapping[str, Scores]) -> Curves:
    """The means over all judged topics, computed by ir_measures as IPrec@recall."""
    names = [f"IPrec@{recall}" for recall in RECALL]
    evaluator = Evaluator(names, qrels)
    by_run = {run: evaluator.evaluate(scores) for run, scores in runs.items()}
    return {run: tuple(mean(name, values[name].values()) for name in names) for run, values in by_run.items()}


def build_picture(curves: Curves) -> Picture:
    return Picture(
        "precision-recall",
        "Precision and recall",
        "Interpolated precision at eleven points of recall, averaged over topics. Higher is better: the "
        "first answers are on the left, the last relevant sentence on the right."
        + (" The axis of precision does not begin at 0." if _limits(curves)[0] > 0 else ""),
        draw(curves),
        build_rows(curves),
    )


def build_rows(curves: Curves) -> Sequence[Sequence[str]]:
    points = [[f"{recall:.1f}"] for recall in RECALL]
    for position, row in enumerate(points):
        row += [f"{values[position]:.4f}" for values in curves.values()]
    return [["recall", *curves], *points]


def _limits(curves: Curves) -> tuple[float, float]:
    """From 0 to 1, or close to the lines if they fill less than half of that."""
    all_values = [value for values in curves.values() for value in values]
    low, high = min(all_values), max(all_values)
    if high - low > _MIN_SPAN:
        return 0.0, 1.02
    margin = max(_MIN_MARGIN, (high - low) / 4)
    return max(0.0, low - margin), min(1.02, high + margin)


@style.with_style
def draw(curves: Curves) -> Figure:
    height = max(4.2, 0.19 * len(curves) + 0.7)
    figure = style.create_figure(height)
    axes = figure.add_subplot()
    for position, values in enumerate(curves.values()):
        run_style = style.style_of(position)
        axes.plot(RECALL, values, color=run_style.color, marker=run_style.marker, linestyle=run_style.dashes)
    axes.set(xlabel="recall", ylabel="precision", xlim=(-0.015, 1.015), ylim=_limits(curves))
    axes.set_xticks([n / 5 for n in range(6)])
    ends = [values[-1] for values in curves.values()]
    style.label_ends(axes, RECALL[-1], ends, [style.shorten(run) for run in curves], height - 0.7)
    return figure
