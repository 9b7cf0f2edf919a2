"""What a feature could add to a ranking, and what is left of that once the ranking has it.

Fernández & Losada 2012, sections 5.1 and 5.2.2: p(I), p(I|R) and p(I|T), indep and FLOE, before the feature
is added and after, with T from the combined ranking; docs/formulas.md, B.5-B.9.
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
from esr.evaluation.tuning.figures import Task
from esr.plans.evidence import Array
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

_HEIGHT = 3.0
_SHARE = 0.999
"""Of the collection's sentences that the picture shows: a long tail would press everything else together."""
_ROWS = 40
_MARKED = 30
"""Lines of more points than that have no markers."""
_PLAIN = 25
"""A feature of more values is smoothed by kernels: single values would be noise."""


class Curves(NamedTuple):
    """A feature's estimates over the ranking without it, and with it if the ranking has it."""

    feature: str
    forms: tuple[str, ...]
    before: Estimates
    after: Estimates | None
    bandwidth: float


def estimated(searcher: Searcher, tasks: Sequence[Task], ranking: Ranking, feature: str) -> Curves:
    """Raises UsageError for a feature that the index does not have."""
    forms = tuple(each.form for each in ranking.features if each.feature == feature)
    base = curves.sample(searcher, tasks, curves.without(ranking, feature), feature)
    bandwidth = silverman(base) if len(base.values) > _PLAIN else 0.0
    how = EstimationOptions(bandwidth=bandwidth)
    after = curves.estimates(searcher, tasks, ranking, feature, how) if forms else None
    return Curves(feature, forms, estimate.estimate(base, how), after, bandwidth)


def silverman(sample: ValueCounts) -> float:
    """A bandwidth for the feature's values in R by Silverman's rule of thumb (1986, eq. 3.28)."""
    number = sample.relevant.sum()
    mean = np.average(sample.values, weights=sample.relevant)
    deviation = np.sqrt(np.average((sample.values - mean) ** 2, weights=sample.relevant))
    return float(1.06 * deviation * number**-0.2) or float(np.ptp(sample.values)) / _PLAIN


def picture(found: Curves) -> Picture:
    name = found.feature
    text = (
        f"Left: how likely each value of {name} is among all sentences, p(I), the relevant ones, p(I|R), and "
        "those that the ranking puts first, p(I|T). Right: what indep = log p(I|R)/p(I) and "
        "FLOE = log p(I|R)/p(I|T) say that a value should add. Where FLOE is flat near 0, the ranking has "
        "nothing left to gain from the feature."
    )
    if found.bandwidth:
        text += f" All are smoothed by Gaussian kernels of bandwidth {found.bandwidth:.2g}."
    if found.after is not None:
        text += f" Dashed: after {name} was added by {' and '.join(found.forms)}."
    return Picture(f"feature-{name}", f"Feature {name}", text, draw(found), rows(found))


def rows(found: Curves) -> Sequence[Sequence[str]]:
    before, after = found.before, found.after
    heads = ["value", "p(I)", "p(I|R)", "p(I|T)", "indep", "FLOE"]
    columns = [before.values, before.everywhere, before.relevant, before.top, before.indep, before.floe]
    if after is not None:
        heads += ["p(I|T) after", "FLOE after"]
        columns += [np.interp(before.values, after.values, part) for part in (after.top, after.floe)]
    shown = np.flatnonzero(_shown(before))
    thinned = shown[:: -(-len(shown) // _ROWS)]
    return [heads, *([f"{column[place]:.4g}" for column in columns] for place in thinned)]


def _shown(estimates: Estimates) -> npt.NDArray[np.bool_]:
    """The values that the picture has room for: rare ones at the upper end are left out."""
    below = np.cumsum(estimates.everywhere) / estimates.everywhere.sum()
    return np.append(True, below[:-1] < _SHARE)


@style.styled
def draw(found: Curves) -> Figure:
    figure = style.figure(_HEIGHT)
    left, right = figure.subplots(1, 2)
    before, after = found.before, found.after
    kept = _shown(before)
    parts = (("p(I)", before.everywhere), ("p(I|R)", before.relevant), ("p(I|T)", before.top))
    for place, (name, part) in enumerate(parts):
        _line(left, before.values[kept], part[kept], place, name)
    _line(right, before.values[kept], before.indep[kept], 3, "indep")
    _line(right, before.values[kept], before.floe[kept], 4, "FLOE")
    if after is not None:
        kept = _shown(after)
        _line(left, after.values[kept], after.top[kept], 2, "p(I|T) after", dashed=True)
        _line(right, after.values[kept], after.floe[kept], 4, "FLOE after", dashed=True)
    right.axhline(0, color=style.FAINT, linewidth=0.8)
    left.set(xlabel=found.feature, ylabel="probability or density", ylim=(0, None))
    right.set(xlabel=found.feature, ylabel="adds to the score")
    for axes in (left, right):
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=_whole(before.values)))
        axes.legend(frameon=False, fontsize=8)
    return figure


def _line(axes: Axes, x: Array, y: Array, place: int, name: str, *, dashed: bool = False) -> None:
    how = style.look(place)
    marker = how.marker if len(x) <= _MARKED and not dashed else ""
    axes.plot(x, y, color=how.color, marker=marker, linestyle="--" if dashed else "-", label=name)


def _whole(values: Array) -> bool:
    return bool((values == np.round(values)).all())
