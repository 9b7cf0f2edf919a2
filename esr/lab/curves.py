"""Train curves of a feature on judgements.

The methods are indep and FLOE (Fernández & Losada 2012, eqs. 6-9; docs/formulas.md, B.4-B.7). Both compare
the probability of a feature value I in three sets: all sentences, the relevant sentences R, and the top
sentences T of a ranking.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.lab.judgements import find_unknown_sentences
from esr.lab.tuner import Task
from esr.plugin import Parameter, UsageError
from esr.plugin.provisional import (
    FORMS,
    NO_FILTERS,
    Adjustment,
    Array,
    ByValue,
    Curve,
    EvidenceOf,
    Ranking,
    Searcher,
    UnsearchableQuery,
    feature_column,
    fit_curve,
    import_lazily,
    require,
    unknown,
)

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = import_lazily("scipy.stats")

Counts = npt.NDArray[np.int64]
MAX_VALUES = 1000
"""The number of distinct values above which relative frequencies are noise: the feature needs a bandwidth."""
MAX_POINTS = 129
"""Maximum number of points of a density. With more distinct values the points are evenly spaced."""

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
    """How probabilities are estimated: relative frequencies use `delta`, densities use `bandwidth`."""

    delta: float = 0.5
    bandwidth: float = 0.0
    complement: str = "approx"
    outside: str = "smoothed"

    @staticmethod
    def from_values(values: Mapping[str, Any]) -> EstimationOptions:
        """Check the values and return the options. Names must be those of OPTIONS.

        Raises UsageError for a value out of range.
        """
        by_name = {option.name: option for option in OPTIONS}
        return EstimationOptions(**{name: by_name[name].check(value) for name, value in values.items()})  # type: ignore


@dataclass(frozen=True)
class ValueCounts:
    """How often each value of a feature occurs in the collection, in R and in T.

    All arrays have the shape (values,); `values` ascend. R has the relevant sentences of the training topics,
    T the top sentences of their rankings. A sentence of several topics counts once.
    """

    values: Array
    everywhere: Counts
    relevant: Counts
    top: Counts


def count_values(values: Array, everywhere: Counts, relevant: Array, top: Array) -> ValueCounts:
    """Count the values in R and T, given the collection's histogram. Unknown values (NaN) do not count.

    Raises UsageError if no relevant sentence has a value.
    """
    present = [part[~np.isnan(part)] for part in (relevant, top)]
    if not len(present[0]):
        raise UsageError("no relevant sentence has a value of the feature: there is nothing to train from")
    counts = [np.bincount(np.searchsorted(values, part), minlength=len(values)) for part in present]
    return ValueCounts(values, everywhere, counts[0], counts[1])


@dataclass(frozen=True)
class Estimates:
    """p(I), p(I|R), p(I|T), and the contributions of indep and FLOE, for each of `values`; shape (values,).

    With a bandwidth the probabilities are densities. `outside` has the contributions of indep and FLOE for
    any other value.
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


def estimate_indep_and_floe(counts: ValueCounts, options: EstimationOptions) -> Estimates:
    """Estimate the probabilities of each value and the contributions of indep and FLOE.

    p(I|X) = (n(I,X) + delta) / (n(X) + delta * distinct values), or a density. indep = log P(I|R) / P(I), and
    FLOE = indep - log P(I|T) / P(I), which is log P(I|R) / P(I|T). Exact complements use P(I|not R) and
    P(I|not T) instead of P(I). A ratio with a zero contributes 0.
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
    """Smoothed relative frequencies of `counts`, where `all_counts` has the counts of all values."""
    total = all_counts.sum() + delta * len(all_counts)
    return (counts + delta) / total if total > 0 else np.zeros(len(counts))


def _density_points(counts: ValueCounts) -> Array:
    """The points of the densities: the range of the values in R and T, beyond which there is no evidence."""
    present = np.flatnonzero(counts.relevant + counts.top)
    values = counts.values[present[0] : present[-1] + 1]
    return values if len(values) <= MAX_POINTS else np.linspace(values[0], values[-1], MAX_POINTS)


def _density(points: Array, values: Array, counts: Counts, bandwidth: float) -> Array:
    """The mean of Gaussian kernels around the values, at the points; 0 everywhere without values."""
    require("the training of a curve", "scipy")

    present = np.flatnonzero(counts)
    total = int(counts.sum())
    if not total:
        return np.zeros(len(points))
    weights = counts[present] / total
    return np.array([np.sum(weights * stats.norm.pdf(at, values[present], bandwidth)) for at in points])


# Training on topics


_BATCH = 500


class CurveTraining(NamedTuple):
    """A curve to train: its form, its feature, and the options of estimation."""

    form: str
    feature: str
    options: EstimationOptions = EstimationOptions()


def parse_training(text: str) -> CurveTraining:
    """Parse `FORM:FEATURE[:OPTION=VALUE...]`, such as `floe:pos` or `indep:subj:delta=1`."""
    form, _, rest = text.partition(":")
    feature, *option_texts = rest.split(":")
    trainable = [form.name for form in FORMS.values() if form.is_trained]
    if form not in trainable:
        raise unknown("form to train", form, trainable)
    feature_column(feature)
    option_names = [option.name for option in OPTIONS]
    values = {}
    for option in option_texts:
        name, equals, value = option.partition("=")
        if not equals:
            raise UsageError(
                f"--train needs FORM:FEATURE[:OPTION=VALUE...], like floe:pos:delta=1, not {text!r}"
            )
        if name not in option_names:
            raise unknown("option of --train", name, option_names)
        values[name] = value
    return CurveTraining(form, feature, EstimationOptions.from_values(values))


def train_curves(
    searcher: Searcher, tasks: Sequence[Task], base: Ranking, trainings: Iterable[CurveTraining]
) -> Ranking:
    """Add trained curves to a ranking. Each is trained on top of the previous ones.

    A curve replaces one with the same form and feature.
    """
    for training in trainings:
        rest = remove_feature(base, training.feature, training.form)
        estimates = estimate_over(searcher, tasks, rest, training.feature, training.options)
        adjustment = Adjustment(training.feature, training.form, curve=estimates.curve(training.form))
        base = replace(rest, features=(*rest.features, adjustment))
    return base


def remove_feature(ranking: Ranking, feature: str, form: str | None = None) -> Ranking:
    """The ranking without this feature in `form`, or in any form for None."""
    rest = tuple(f for f in ranking.features if f.feature != feature or form not in (None, f.form))
    return replace(ranking, features=rest)


def estimate_over(
    searcher: Searcher, tasks: Sequence[Task], base: Ranking, feature: str, options: EstimationOptions
) -> Estimates:
    """The contributions of indep and FLOE that a feature would add to a base ranking.

    If the base already has a curve of the feature, these are the remaining contributions.
    """
    return estimate_indep_and_floe(count_feature_values(searcher, tasks, base, feature), options)


def measure_residuals(
    searcher: Searcher, tasks: Sequence[Task], ranking: Ranking, trainings: Iterable[CurveTraining]
) -> list[dict[str, Any]]:
    """The mean absolute FLOE over sentences, before and after each curve is added.

    A value near 0 means that no gain remains. P(I|T) is computed again with T from the combined ranking
    (Fernández & Losada 2012, section 5.2.2).
    """
    residuals = []
    for training in trainings:
        before, after = (
            estimate_over(searcher, tasks, base, training.feature, training.options)
            for base in (remove_feature(ranking, training.feature, training.form), ranking)
        )
        distances = (float(np.average(abs(e.floe), weights=e.everywhere)) for e in (before, after))
        residuals.append(
            {"feature": training.feature, **dict(zip(("before", "after"), distances, strict=True))}
        )
    return residuals


def count_feature_values(
    searcher: Searcher, tasks: Sequence[Task], base: Ranking, feature: str
) -> ValueCounts:
    """Count the feature's values in the collection, in R and in T, pooled over the topics.

    T has the base's top r sentences of each topic, where r is the number of its relevant sentences. Relevant
    sentences that are not in the index are ignored.
    """
    searcher = searcher.snapshot()
    searcher.check_features([feature])
    column = feature_column(feature)
    judgements = {task.topic: dict.fromkeys(task.relevant, 1) for task in tasks}
    missing = set(find_unknown_sentences(judgements, searcher.index))
    relevant = [[id for id in task.relevant if id not in missing] for task in tasks]
    top = [_search_top(searcher, task, base, len(ids)) for task, ids in zip(tasks, relevant, strict=True)]
    histogram = searcher.index.count([None], NO_FILTERS, ByValue(column))[0]
    return count_values(
        histogram.values,
        histogram.counts,
        _read_column(searcher, chain.from_iterable(relevant), column),
        _read_column(searcher, chain.from_iterable(top), column),
    )


def _search_top(searcher: Searcher, task: Task, base: Ranking, k: int) -> list[str]:
    if not k:
        return []
    try:
        answer = searcher.search(
            task.query, k, ranking=base, filters=task.filters, records=False, literal=True
        )
    except UnsearchableQuery:
        return []
    return [hit.sentence_id for hit in answer.hits]


def _read_column(searcher: Searcher, ids: Iterable[str], column: str) -> Array:
    """The column's values for the distinct sentences among these."""
    distinct = list(dict.fromkeys(ids))
    batches = [
        searcher.index.read(distinct[start : start + _BATCH], EvidenceOf([], [column])).columns[column]
        for start in range(0, len(distinct), _BATCH)
    ]
    return np.concatenate([np.zeros(0), *batches])
