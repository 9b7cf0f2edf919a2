"""The picture of precision at levels of recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from esr.lab.judgements import Qrels
from esr.lab.measures import Evaluator, mean
from esr.lab.report.picture_style import create_figure, get_style, label_ends, shorten, with_style
from esr.lab.report.pictures import Picture
from esr.plugin.provisional import Scores

_MIN_SPAN, _MIN_MARGIN = 0.5, 0.02
RECALL = tuple(n / 10 for n in range(11))
Curves = dict[str, tuple[float, ...]]
"""By run, interpolated precision at each point of RECALL."""


def compute_curves(qrels: Qrels, runs: Mapping[str, Scores]) -> Curves:
    """The means over all judged topics, computed by ir_measures as IPrec@recall."""
    names = [f"IPrec@{recall}" for recall in RECALL]
    evaluator = Evaluator(names, qrels)
    by_run = {run: evaluator.evaluate(scores) for run, scores in runs.items()}
    return {run: tuple(mean(name, values[name].values()) for name in names) for run, values in by_run.items()}


def build_precision_recall(curves: Curves) -> Picture:
    return Picture(
        "precision-recall",
        "Precision and recall",
        "Interpolated precision at eleven points of recall, averaged over topics. Higher is better: the "
        "first answers are on the left, the last relevant sentence on the right."
        + (" The axis of precision does not begin at 0." if _find_limits(curves)[0] > 0 else ""),
        draw_precision_recall(curves),
        list_precision_recall(curves),
    )


def list_precision_recall(curves: Curves) -> Sequence[Sequence[str]]:
    points = [[f"{recall:.1f}"] for recall in RECALL]
    for position, row in enumerate(points):
        row += [f"{values[position]:.4f}" for values in curves.values()]
    return [["recall", *curves], *points]


def _find_limits(curves: Curves) -> tuple[float, float]:
    """The limits of the precision axis: 0 to 1, or close to the lines if they span less than half of that."""
    all_values = [value for values in curves.values() for value in values]
    low, high = min(all_values), max(all_values)
    if high - low > _MIN_SPAN:
        return 0.0, 1.02
    margin = max(_MIN_MARGIN, (high - low) / 4)
    return max(0.0, low - margin), min(1.02, high + margin)


@with_style
def draw_precision_recall(curves: Curves) -> Figure:
    height = max(4.2, 0.19 * len(curves) + 0.7)
    figure = create_figure(height)
    axes = figure.add_subplot()
    for position, values in enumerate(curves.values()):
        run_style = get_style(position)
        axes.plot(RECALL, values, color=run_style.color, marker=run_style.marker, linestyle=run_style.dashes)
    axes.set(xlabel="recall", ylabel="precision", xlim=(-0.015, 1.015), ylim=_find_limits(curves))
    axes.set_xticks([n / 5 for n in range(6)])
    ends = [values[-1] for values in curves.values()]
    label_ends(axes, RECALL[-1], ends, [shorten(run) for run in curves], height - 0.7)
    return figure
