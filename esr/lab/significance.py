"""Whether one system is better than another: paired tests over topics, with Holm's correction."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from esr.plugin import UsageError
from esr.plugin.provisional import import_lazily, require

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = import_lazily("scipy.stats")


_BATCH = 500
RESAMPLES = 10_000
SEED = 0
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """A system compared with a baseline, topic by topic.

    `difference` is the mean of the topics' differences; `low` and `high` are its 95 % confidence interval by
    the t distribution; `effect` is the mean in standard deviations of the differences. `t_test` and
    `randomisation` are two-sided p-values of the paired tests, and `…_holm` the same after Holm's correction.
    Values that need more than one topic are NaN if there is only one.
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
    effect: float = math.nan

    @property
    def mark(self) -> str:
        """`**` if the corrected t-test is significant at 99 %, `*` at 95 %, else an empty string."""
        return "**" if self.t_test_holm < 0.01 else "*" if self.t_test_holm < 0.05 else ""

    def as_dict(self) -> dict[str, Any]:
        """The fields for JSON, with None for NaN."""
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(self).items()}


def compare_systems(
    a: Mapping[str, float], b: Mapping[str, float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> SystemComparison:
    """Compare the values by topic of a system `a` with those of a baseline `b`.

    The randomisation test swaps the two values of topics at random, `resamples` times, or in all possible
    ways if there are no more than that; with 0 it is left out, and its p is NaN. It is deterministic for a
    seed. The corrected p-values are those of a single comparison: see `correct_p_values`. Raises UsageError
    if the topics differ or there are none.
    """
    if a.keys() != b.keys() or not a:
        raise UsageError("two systems can only be compared over the same topics, at least one")
    ours = np.array([a[topic] for topic in a], dtype=float)
    theirs = np.array([b[topic] for topic in a], dtype=float)
    wins, losses = int((ours > theirs).sum()), int((ours < theirs).sum())
    low, high, t_test = _t_test(ours, theirs)
    randomisation = _randomisation_test(ours, theirs, resamples, seed) if resamples else math.nan
    return SystemComparison(
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
        effect=_effect_size(ours - theirs),
    )


def compare_common(
    topics: Iterable[str], a: Mapping[str, float], b: Mapping[str, float], **options: int
) -> SystemComparison | None:
    """Compare over those of the topics that have a value in both, None if none has. `options` as above.

    A few measures have no value for some topics.
    """
    common = [topic for topic in topics if topic in a and topic in b]
    ours, theirs = ({topic: values[topic] for topic in common} for values in (a, b))
    return compare_systems(ours, theirs, **options) if common else None


def correct_p_values(comparisons: Sequence[SystemComparison]) -> list[SystemComparison]:
    """The comparisons with their p-values corrected by Holm's method over all of them."""
    t_tests = correct_by_holm([c.t_test for c in comparisons])
    randomisations = correct_by_holm([c.randomisation for c in comparisons])
    return [
        replace(comparison, t_test_holm=t, randomisation_holm=r)
        for comparison, t, r in zip(comparisons, t_tests, randomisations, strict=True)
    ]


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the same order. NaN stays NaN and does not count."""
    ascending = sorted((p, n) for n, p in enumerate(p_values) if not math.isnan(p))
    corrected, maximum = [math.nan] * len(p_values), 0.0
    for step, (p, n) in enumerate(ascending):
        maximum = max(maximum, min(1.0, (len(ascending) - step) * p))
        corrected[n] = maximum
    return corrected


def _effect_size(differences: Any) -> float:
    """Cohen's d of paired values, 0 without any difference. NaN for one topic, and for equal differences."""
    if len(differences) < 2:
        return math.nan
    if differences.any() and np.allclose(differences, differences[0], rtol=1e-9, atol=0.0):
        return math.nan  # equal but for rounding, as .8 - .7 and .3 - .2 are
    return float(np.mean(differences) / (np.std(differences, ddof=1) or 1.0))


def _t_test(ours: Any, theirs: Any) -> tuple[float, float, float]:
    """The confidence interval of the difference, and p. Equal systems have p = 1 instead of 0/0."""
    require("a t-test", "scipy")

    if len(ours) < 2:
        return math.nan, math.nan, math.nan
    if np.array_equal(ours, theirs):
        return 0.0, 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # equal differences in all topics: p = 0
        result = stats.ttest_rel(ours, theirs)
        interval = result.confidence_interval(CONFIDENCE)
    return float(interval.low), float(interval.high), float(result.pvalue)


def _randomisation_test(ours: Any, theirs: Any, resamples: int, seed: int) -> float:
    require("a randomisation test", "scipy")

    if len(ours) < 2:
        return math.nan
    result = stats.permutation_test(
        (ours, theirs),
        lambda ours, theirs, axis: np.mean(ours - theirs, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)
