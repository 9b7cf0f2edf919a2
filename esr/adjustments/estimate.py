"""Estimates indep and FLOE from the probabilities of a value in all, in relevant and in top sentences.

Fernández & Losada 2012, eqs. 6-9; docs/formulas.md, B.4-B.7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.adjustments.curves import fit_curve
from esr.errors import UsageError
from esr.extras import require
from esr.parameter import Parameter
from esr.plans.evidence import Array
from esr.plans.plan import Curve

Counts = npt.NDArray[np.int64]
MAX_VALUES = 1000
"""Relative frequencies of more distinct values mean nothing: such a feature needs a bandwidth."""
MAX_POINTS = 129
"""Points of a curve of densities. With more distinct values than that they are evenly spaced."""

DELTA = Parameter("delta", "what is added to each count", 0.5, high=math.inf, open_high=True)
BANDWIDTH = Parameter(
    "bandwidth",
    "of Gaussian kernels, in the feature's own unit; 0 is for relative frequencies",
    0.0,
    high=math.inf,
    open_high=True,
)
COMPLEMENT = Parameter(
    "complement",
    "P(I) in the place of P(I|not R) and P(I|not T), or these themselves",
    "approx",
    choices=("approx", "exact"),
)
OUTSIDE = Parameter(
    "outside",
    "beyond the values of training: the ratio of smoothed counts of nothing, or the nearest value's",
    "smoothed",
    choices=("smoothed", "nearest"),
)
OPTIONS = (DELTA, BANDWIDTH, COMPLEMENT, OUTSIDE)


@dataclass(frozen=True)
class EstimationOptions:
    """How probabilities are estimated. `delta` is for relative frequencies, `bandwidth` for densities."""

    delta: float = 0.5
    bandwidth: float = 0.0
    complement: str = "approx"
    outside: str = "smoothed"

    @staticmethod
    def from_values(values: Mapping[str, Any]) -> EstimationOptions:
        """Checked. Raises UsageError for a value out of range; names must be those of OPTIONS."""
        by_name = {option.name: option for option in OPTIONS}
        return EstimationOptions(**{name: by_name[name].check(value) for name, value in values.items()})  # type: ignore


@dataclass(frozen=True)
class ValueCounts:
    """How often each value of a feature occurs in the collection, in R and in T.

    `values` are in rising order; all have the shape (values,). R are the relevant sentences of the training
    topics, T the sentences that the ranking puts first for them; a sentence of several topics counts once.
    """

    values: Array
    everywhere: Counts
    relevant: Counts
    top: Counts


def count_values(values: Array, everywhere: Counts, relevant: Array, top: Array) -> ValueCounts:
    """From the collection's histogram and the values in R and T; NaN, an unknown value, does not count.

    Raises UsageError if no relevant sentence has a value.
    """
    present = [part[~np.isnan(part)] for part in (relevant, top)]
    if not len(present[0]):
        raise UsageError("no relevant sentence has a value of the feature: there is nothing to train from")
    counts = [np.bincount(np.searchsorted(values, part), minlength=len(values)) for part in present]
    return ValueCounts(values, everywhere, counts[0], counts[1])


@dataclass(frozen=True)
class Estimates:
    """Over `values`, of shape (values,): p(I), p(I|R), p(I|T), and what indep and FLOE add there.

    With a bandwidth these are densities. `outside` is what indep and FLOE add beyond the values.
    """

    values: Array
    everywhere: Array
    relevant: Array
    top: Array
    indep: Array
    floe: Array
    outside: tuple[float | None, float | None]

    def curve(self, form: str) -> Curve:
        """The curve of `indep` or `floe`."""
        adds, outside = (self.indep, self.outside[0]) if form == "indep" else (self.floe, self.outside[1])
        return fit_curve(self.values.tolist(), adds.tolist(), outside)


def estimate(counts: ValueCounts, options: EstimationOptions) -> Estimates:
    """p(I|X) = (n(I,X) + delta) / (n(X) + delta * distinct values), or a density.

    indep = log P(I|R) / P(I), and FLOE = indep - log P(I|T) / P(I), which is log P(I|R) / P(I|T). With
    exact complements P(I|not R) and P(I|not T) replace P(I). A ratio with a zero adds 0.
    """
    sets = [counts.everywhere, counts.relevant, counts.top]
    sets += [counts.everywhere - counts.relevant, counts.everywhere - counts.top]
    if options.bandwidth:
        values = _density_points(counts)
        p = [_density(values, counts.values, part, options.bandwidth) for part in sets]
        p_outside = None
    else:
        values = counts.values
        if len(values) > MAX_VALUES:
            raise UsageError(
                f"the feature has {len(values):,} distinct values: give a bandwidth, such as bandwidth=0.1"
            )
        p = [_frequency(part, part, options.delta) for part in sets]
        none = np.zeros(1, np.int64)
        p_outside = [_frequency(none, part, options.delta) for part in sets]
    indep, floe = _adjustments(p, options.complement)
    outside: tuple[float | None, float | None] = (None, None)
    if p_outside is not None and options.outside == "smoothed":
        indep_outside, floe_outside = _adjustments(p_outside, options.complement)
        outside = (float(indep_outside[0]), float(floe_outside[0]))
    return Estimates(values, p[0], p[1], p[2], indep, floe, outside)


def _adjustments(p: list[Array], complement: str) -> tuple[Array, Array]:
    everywhere, relevant, top, not_relevant, not_top = p
    if complement == "approx":
        return _log_ratio(relevant, everywhere), _log_ratio(relevant, top)
    indep = _log_ratio(relevant, not_relevant)
    return indep, indep - _log_ratio(top, not_top)


def _log_ratio(numerator: Array, denominator: Array) -> Array:
    both = (numerator > 0) & (denominator > 0)
    return np.where(
        both, np.log(np.where(both, numerator, 1.0)) - np.log(np.where(both, denominator, 1.0)), 0.0
    )


def _frequency(counts: Counts, all_counts: Counts, delta: float) -> Array:
    """Smoothed relative frequencies of these counts, where `all_counts` counts all values."""
    total = all_counts.sum() + delta * len(all_counts)
    return (counts + delta) / total if total > 0 else np.zeros(len(counts))


def _density_points(counts: ValueCounts) -> Array:
    """Where densities are estimated: between the ends of R and T. Beyond them there is nothing to learn."""
    present = np.flatnonzero(counts.relevant + counts.top)
    values = counts.values[present[0] : present[-1] + 1]
    return values if len(values) <= MAX_POINTS else np.linspace(values[0], values[-1], MAX_POINTS)


def _density(points: Array, values: Array, counts: Counts, bandwidth: float) -> Array:
    """The mean of Gaussian kernels around the values, at the points; 0 everywhere if there is no value."""
    require("the training of a curve", "scipy")
    from scipy.stats import norm  # slow to import

    present = np.flatnonzero(counts)
    total = int(counts.sum())
    if not total:
        return np.zeros(len(points))
    weights = counts[present] / total
    return np.array([np.sum(weights * norm.pdf(at, values[present], bandwidth)) for at in points])
