"""indep and FLOE from values: how likely a value is among relevant sentences, at the top, and at all.

Fernández & Losada 2012, eqs. 6-9; docs/formulas.md, B.4-B.7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.adjustments.curves import curve
from esr.errors import UsageError
from esr.parameter import Parameter
from esr.plans.evidence import Array
from esr.plans.plan import Curve

Counts = npt.NDArray[np.int64]
MOST_VALUES = 1000
"""Relative frequencies of more distinct values than this say nothing: such a feature wants a bandwidth."""
POINTS = 129
"""Points of a curve over more distinct values than that, where densities are estimated."""

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
class Estimation:
    """How probabilities are estimated. `delta` is for relative frequencies, `bandwidth` for densities."""

    delta: float = 0.5
    bandwidth: float = 0.0
    complement: str = "approx"
    outside: str = "smoothed"

    @staticmethod
    def of(values: Mapping[str, Any]) -> Estimation:
        """Checked. Raises UsageError for a value out of range; names must be those of OPTIONS."""
        known = {option.name: option for option in OPTIONS}
        return Estimation(**{name: known[name].check(value) for name, value in values.items()})  # type: ignore


@dataclass(frozen=True)
class Sample:
    """How often each value of a feature stands in the collection, in R and in T.

    `values` rise; all have the shape (values,). R are the relevant sentences of the training topics, T
    what the ranking puts first for them; a sentence that several topics have counts once.
    """

    values: Array
    everywhere: Counts
    relevant: Counts
    top: Counts


def sample(values: Array, everywhere: Counts, relevant: Array, top: Array) -> Sample:
    """From the collection's histogram and the values in R and T; NaN, not known, does not count.

    Raises UsageError if nothing is known.
    """
    known = [part[~np.isnan(part)] for part in (relevant, top)]
    if not len(known[0]):
        raise UsageError("the feature is not known for any relevant sentence: there is nothing to train from")
    counts = [np.bincount(np.searchsorted(values, part), minlength=len(values)) for part in known]
    return Sample(values, everywhere, counts[0], counts[1])


@dataclass(frozen=True)
class Estimates:
    """Over `values`, of shape (values,): p(I), p(I|R), p(I|T), and what indep and FLOE add there.

    Densities where a bandwidth was asked for. `outside` has what indep and FLOE add beyond the values.
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
        return curve(self.values.tolist(), adds.tolist(), outside)


def estimates(sample: Sample, how: Estimation) -> Estimates:
    """p(I|X) = (n(I,X) + delta) / (n(X) + delta * distinct values), or a density.

    indep = log P(I|R) / P(I), and FLOE = indep - log P(I|T) / P(I), which is log P(I|R) / P(I|T). With
    exact complements P(I|not R) and P(I|not T) stand in P(I)'s places. A ratio with a zero adds 0.
    """
    sets = [sample.everywhere, sample.relevant, sample.top]
    sets += [sample.everywhere - sample.relevant, sample.everywhere - sample.top]
    if how.bandwidth:
        values = _points(sample)
        p = [_density(values, sample.values, counts, how.bandwidth) for counts in sets]
        beyond = None
    else:
        values = sample.values
        if len(values) > MOST_VALUES:
            raise UsageError(
                f"the feature has {len(values):,} distinct values: give a bandwidth, as bandwidth=0.1"
            )
        p = [_frequency(counts, counts, how.delta) for counts in sets]
        none = np.zeros(1, np.int64)
        beyond = [_frequency(none, counts, how.delta) for counts in sets]
    indep, floe = _adjustments(p, how.complement)
    outside: tuple[float | None, float | None] = (None, None)
    if beyond is not None and how.outside == "smoothed":
        past = _adjustments(beyond, how.complement)
        outside = (float(past[0][0]), float(past[1][0]))
    return Estimates(values, p[0], p[1], p[2], indep, floe, outside)


def _adjustments(p: list[Array], complement: str) -> tuple[Array, Array]:
    everywhere, relevant, top, not_relevant, not_top = p
    if complement == "approx":
        return _log_ratio(relevant, everywhere), _log_ratio(relevant, top)
    indep = _log_ratio(relevant, not_relevant)
    return indep, indep - _log_ratio(top, not_top)


def _log_ratio(above: Array, below: Array) -> Array:
    both = (above > 0) & (below > 0)
    return np.where(both, np.log(np.where(both, above, 1.0)) - np.log(np.where(both, below, 1.0)), 0.0)


def _frequency(counts: Counts, of: Counts, delta: float) -> Array:
    """Smoothed relative frequencies of these counts, where `of` counts all values."""
    total = of.sum() + delta * len(of)
    return (counts + delta) / total if total > 0 else np.zeros(len(counts))


def _points(sample: Sample) -> Array:
    """Where densities are estimated: between the ends of R and T. Beyond them there is nothing to learn."""
    seen = np.flatnonzero(sample.relevant + sample.top)
    values = sample.values[seen[0] : seen[-1] + 1]
    return values if len(values) <= POINTS else np.linspace(values[0], values[-1], POINTS)


def _density(points: Array, values: Array, counts: Counts, bandwidth: float) -> Array:
    """The mean of Gaussian kernels around the values, at the points. Of no value, 0 everywhere."""
    from scipy.stats import norm  # slow to import

    held = np.flatnonzero(counts)
    total = int(counts.sum())
    if not total:
        return np.zeros(len(points))
    weights = counts[held] / total
    return np.array([np.sum(weights * norm.pdf(at, values[held], bandwidth)) for at in points])
