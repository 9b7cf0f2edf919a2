"""What a feature could add to a ranking, and how much of that remains once the ranking has it.

Fernández & Losada 2012, sections 5.1 and 5.2.2: p(I), p(I|R) and p(I|T), indep and FLOE, before and after
the feature is added, with T from the combined ranking; docs/formulas.md, B.5-B.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from esr.adjustments import estimate
from esr.adjustments.estimate import Estimates, EstimationOptions, ValueCounts
from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.evaluation.tuning import curves
from esr.evaluation.tuning.tuner import Task
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

_HEIGHT = 3.0
_MAX_SHARE = 0.999
"""The share of the collection's sentences in the picture: a long tail would compress everything else."""
_MAX_ROWS = 40
_MAX_MARKERS = 30
"""Lines with more points have no markers."""
_MAX_DISCRETE = 25
"""Features with more values are smoothed by kernels, because single values would be noise."""


class Curves(NamedTuple):
    """A feature's estimates over the ranking without it, and over the ranking if it has the feature."""

    feature: str
    forms: tuple[str, ...]
    before: Estimates
    after: Estimates | None
    bandwidth: float


def estimate_curves(searcher: Searcher, tasks: Sequence[Task], ranking: Ranking, feature: str) -> Curves:
    """The curves of a feature. Raises UsageError if the index lacks it."""
    forms = tuple(f.form for f in ranking.features if f.feature == feature)
    base = curves.count_feature_values(searcher, tasks, curves.remove_feature(ranking, feature), feature)
    bandwidth = choose_bandwidth(base) if len(base.values) > _MAX_DISCRETE else 0.0
    options = EstimationOptions(bandwidth=bandwidth)
    after = curves.estimate_over(searcher, tasks, ranking, feature, options) if forms else None
    return Curves(feature, forms, estimate.estimate(base, options), after, bandwidth)


def choose_bandwidth(counts: ValueCounts) -> float:
    """The bandwidth for the feature's values in R by Silverman's rule of thumb (1986, eq. 3.28)."""
    number = counts.relevant.sum()
    mean = np.average(counts.values, weights=counts.relevant)
    deviation = np.sqrt(np.average((counts.values - mean) ** 2, weights=counts.relevant))
    return float(1.06 * deviation * number**-0.2) or float(np.ptp(counts.values)) / _MAX_DISCRETE


def build_picture(curves: Curves) -> Picture:
    name = curves.feature
    text = (
        f"Left: the probability of each value of {name} among all sentences, p(I), the relevant ones, "
        "p(I|R), and the top of the ranking, p(I|T). Right: what a value should add according to "
        "indep = log p(I|R)/p(I) and FLOE = log p(I|R)/p(I|T). Where FLOE is flat near 0, the ranking has "
        "nothing left to gain from the feature."
    )
    if curves.bandwidth:
        text += f" All are smoothed by Gaussian kernels with bandwidth {curves.bandwidth:.2g}."
    if curves.after is not None:
        text += f" Dashed: after {name} was added by {' and '.join(curves.forms)}."
    return Picture(f"feature-{name}", f"Feature {name}", text, draw(curves), build_rows(curves))


def build_rows(curves: Curves) -> Sequence[Sequence[str]]:
    before, after = curves.before, curves.after
    heads = ["value", "p(I)", "p(I|R)", "p(I|T)", "indep", "FLOE"]
    columns = [before.values, before.everywhere, before.relevant, before.top, before.indep, before.floe]
    if after is not None:
        heads += ["p(I|T) after", "FLOE after"]
        columns += [np.interp(before.values, after.values, part) for part in (after.top, after.floe)]
    visible = np.flatnonzero(_find_visible(before))
    selected = visible[:: -(-len(visible) // _MAX_ROWS)]
    return [heads, *([f"{column[position]:.4g}" for column in columns] for position in selected)]


def _find_visible(estimates: Estimates) -> npt.NDArray[np.bool_]:
    """The values in the picture, without rare ones at the upper end."""
    cumulative = np.cumsum(estimates.everywhere) / estimates.everywhere.sum()
    return np.append(True, cumulative[:-1] < _MAX_SHARE)


@style.with_style
def draw(curves: Curves) -> Figure:
    figure = style.create_figure(_HEIGHT)
    left, right = figure.subplots(1, 2)
    before, after = curves.before, curves.after
    visible = _find_visible(before)
    probabilities = (("p(I)", before.everywhere), ("p(I|R)", before.relevant), ("p(I|T)", before.top))
    for position, (name, values) in enumerate(probabilities):
        _draw_line(left, before.values[visible], values[visible], position, name)
    _draw_line(right, before.values[visible], before.indep[visible], 3, "indep")
    _draw_line(right, before.values[visible], before.floe[visible], 4, "FLOE")
    if after is not None:
        visible = _find_visible(after)
        _draw_line(left, after.values[visible], after.top[visible], 2, "p(I|T) after", is_dashed=True)
        _draw_line(right, after.values[visible], after.floe[visible], 4, "FLOE after", is_dashed=True)
    right.axhline(0, color=style.FAINT, linewidth=0.8)
    left.set(xlabel=curves.feature, ylabel="probability or density", ylim=(0, None))
    right.set(xlabel=curves.feature, ylabel="adds to the score")
    for axes in (left, right):
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=_are_integers(before.values)))
        axes.legend(frameon=False, fontsize=8)
    return figure


def _draw_line(axes: Axes, x: Array, y: Array, position: int, name: str, *, is_dashed: bool = False) -> None:
    run_style = style.style_of(position)
    marker = run_style.marker if len(x) <= _MAX_MARKERS and not is_dashed else ""
    axes.plot(x, y, color=run_style.color, marker=marker, linestyle="--" if is_dashed else "-", label=name)


def _are_integers(values: Array) -> bool:
    return bool((values == np.round(values)).all())
