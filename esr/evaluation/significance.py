"""Whether a difference between two systems is luck: paired tests over topics, and Holm's correction."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from esr.errors import UsageError
from esr.extras import require

RESAMPLES = 10_000
SEED = 0
CONFIDENCE = 0.95
_BATCH = 500  # so that thousands of topics fit in memory


@dataclass(frozen=True, slots=True)
class Comparison:
    """A system against another one, over the topics that both have.

    `difference` is the mean of the topics' differences, `low` and `high` its 95 % confidence interval by
    the t distribution. `t_test` and `randomisation` are two-sided p-values of the paired tests, `…_holm`
    the same after Holm's correction. A value that one topic cannot give is NaN.
    """

    topics: int
    difference: float
    low: float
    high: float
    t_test: float
    randomisation: float
    t_test_holm: float
    randomisation_holm: float
    wins: int
    ties: int
    losses: int

    @property
    def mark(self) -> str:
        """`**` if the corrected t-test says so at 99 %, `*` at 95 %, or nothing."""
        return "**" if self.t_test_holm < 0.01 else "*" if self.t_test_holm < 0.05 else ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which has no NaN."""
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(self).items()}


def compare(
    a: Mapping[str, float], b: Mapping[str, float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Comparison:
    """Compare the values by topic of a system `a` with those of a baseline `b`.

    The randomisation test swaps the two values of topics at random, `resamples` times; it tries all ways
    to swap where there are no more than that. The same call gives the same figures. Corrected values are
    those of a single comparison: see `corrected`. Raises UsageError if the topics differ or are none.
    """
    if a.keys() != b.keys() or not a:
        raise UsageError("two systems are compared over the same topics, at least one")
    ours = np.array([a[topic] for topic in a], dtype=float)
    theirs = np.array([b[topic] for topic in a], dtype=float)
    wins, losses = int((ours > theirs).sum()), int((ours < theirs).sum())
    low, high, t_test = _t_test(ours, theirs)
    randomisation = _randomisation(ours, theirs, resamples, seed)
    return Comparison(
        topics=len(ours),
        difference=float(np.mean(ours - theirs)),
        low=low,
        high=high,
        t_test=t_test,
        randomisation=randomisation,
        t_test_holm=t_test,
        randomisation_holm=randomisation,
        wins=wins,
        ties=len(ours) - wins - losses,
        losses=losses,
    )


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The same, their p-values corrected for being so many: by Holm, over all that are given."""
    t_tests = holm([each.t_test for each in comparisons])
    randomisations = holm([each.randomisation for each in comparisons])
    return [
        replace(each, t_test_holm=t, randomisation_holm=r)
        for each, t, r in zip(comparisons, t_tests, randomisations, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given. NaN stays NaN and does not count."""
    order = sorted((p, n) for n, p in enumerate(p_values) if not math.isnan(p))
    result, least = [math.nan] * len(p_values), 0.0
    for step, (p, n) in enumerate(order):
        least = max(least, min(1.0, (len(order) - step) * p))
        result[n] = least
    return result


def _t_test(ours: Any, theirs: Any) -> tuple[float, float, float]:
    """Both ends of the interval of the difference, and p. Equal systems have p = 1, not 0/0."""
    require("a t-test", "scipy")
    from scipy.stats import ttest_rel

    if len(ours) < 2:
        return math.nan, math.nan, math.nan
    if np.array_equal(ours, theirs):
        return 0.0, 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the same difference in all topics: p = 0
        result = ttest_rel(ours, theirs)
        interval = result.confidence_interval(CONFIDENCE)
    return float(interval.low), float(interval.high), float(result.pvalue)


def _randomisation(ours: Any, theirs: Any, resamples: int, seed: int) -> float:
    require("a randomisation test", "scipy")
    from scipy.stats import permutation_test

    if len(ours) < 2:
        return math.nan
    result = permutation_test(
        (ours, theirs),
        _mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def _mean_difference(ours: Any, theirs: Any, axis: int) -> Any:
    return np.mean(ours - theirs, axis=axis)
