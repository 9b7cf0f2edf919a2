"""indep and FLOE by hand, and against other ways to compute them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from esr.errors import UsageError
from esr.lab.curves import (
    MAX_POINTS,
    Estimates,
    EstimationOptions,
    ValueCounts,
    count_values,
    estimate_indep_and_floe,
)
from esr.plans.evaluate import evaluate_curve


def value_counts(everywhere: dict[float, int], relevant: list[float], top: list[float]) -> ValueCounts:
    values = np.array(sorted(everywhere), float)
    counts = np.array([everywhere[v] for v in values])
    return count_values(values, counts, np.array(relevant, float), np.array(top, float))


# docs/formulas.md, E.10: F_pos over the eight sentences, the three relevant ones, and tfisf's first three.
WORKED = value_counts({0: 2, 1: 4, 2: 2}, [0, 1, 2], [1, 1, 0])


def estimate_adjustments(counts: ValueCounts = WORKED, **options: Any) -> Estimates:
    return estimate_indep_and_floe(counts, EstimationOptions.from_values(options))


def test_probabilities_are_those_of_the_worked_example() -> None:
    estimates = estimate_adjustments()
    assert estimates.everywhere == pytest.approx([2.5 / 9.5, 4.5 / 9.5, 2.5 / 9.5], rel=1e-12)
    assert estimates.relevant == pytest.approx([1.5 / 4.5] * 3, rel=1e-12)
    assert estimates.top == pytest.approx([1.5 / 4.5, 2.5 / 4.5, 0.5 / 4.5], rel=1e-12)
    assert estimates.floe == pytest.approx([0, math.log(1.5 / 2.5), math.log(3)], rel=1e-12, abs=1e-12)
    assert estimates.indep == pytest.approx(
        [math.log(9.5 / 7.5), math.log(9.5 / 13.5), math.log(9.5 / 7.5)], rel=1e-12
    )


def test_exact_complements_compare_with_what_is_not_relevant_and_not_at_the_top() -> None:
    estimates = estimate_adjustments(complement="exact")
    # Not in R: {0: 1, 1: 3, 2: 1}; not in T: {0: 1, 1: 2, 2: 2}.
    indep = np.log([(1.5 / 4.5) / (c / 6.5) for c in (1.5, 3.5, 1.5)])
    captured = np.log([(t / 4.5) / (c / 6.5) for t, c in zip((1.5, 2.5, 0.5), (1.5, 2.5, 2.5), strict=True)])
    assert estimates.indep == pytest.approx(indep, rel=1e-12)
    assert estimates.floe == pytest.approx(indep - captured, rel=1e-12)


def test_a_zero_in_a_ratio_adds_nothing() -> None:
    estimates = estimate_adjustments(value_counts({0: 5, 1: 5, 2: 5}, [0, 0, 1], [0, 2, 2]), delta=0)
    assert estimates.floe == pytest.approx([math.log(2), 0, 0])
    assert estimates.indep == pytest.approx([math.log(2), 0, 0])


@pytest.mark.parametrize(("value", "adds"), [(-1, None), (7, None), (0, 0.0), (2, math.log(3))])
def test_values_that_training_has_not_seen_get_the_ratio_of_smoothed_nothing(value: float, adds: Any) -> None:
    counts = value_counts({0: 2, 1: 4, 2: 2}, [0, 1, 2, 2], [1, 1, 0])
    curve = estimate_adjustments(counts).curve("floe")
    unseen = math.log((0.5 / 5.5) / (0.5 / 4.5))
    expected = unseen if adds is None else adds + math.log(4.5 / 5.5) + (math.log(2.5 / 1.5) if value else 0)
    assert evaluate_curve(curve, np.array([value]))[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_or_what_the_nearest_value_gets() -> None:
    curve = estimate_adjustments(outside="nearest").curve("floe")
    assert evaluate_curve(curve, np.array([-1.0, 9.0])) == pytest.approx([0, math.log(3)], abs=1e-12)


def test_densities_are_those_of_scipys_kernels() -> None:
    generator = np.random.default_rng(1)
    values_drawn = np.round(generator.normal(5, 3, 400), 1)
    relevant, top = values_drawn[:40], values_drawn[20:60]
    values, counts = np.unique(values_drawn, return_counts=True)
    estimates = estimate_adjustments(count_values(values, counts, relevant, top), bandwidth=0.7)
    for part, sample in (
        (estimates.everywhere, values_drawn),
        (estimates.relevant, relevant),
        (estimates.top, top),
    ):
        expected = gaussian_kde(sample, bw_method=0.7 / sample.std(ddof=1))(estimates.values)
        assert part == pytest.approx(expected, rel=1e-9)
    assert estimates.floe == pytest.approx(np.log(estimates.relevant / estimates.top))
    assert estimates.indep == pytest.approx(np.log(estimates.relevant / estimates.everywhere))
    trained_on = np.concatenate([relevant, top])
    assert (estimates.values[0], estimates.values[-1]) == (trained_on.min(), trained_on.max())
    assert estimates.outside == (None, None)


def test_many_distinct_values_need_a_bandwidth() -> None:
    values = np.linspace(0, 1, 5000)
    counts = count_values(values, np.ones(5000, int), values[:50], values[50:90])
    with pytest.raises(UsageError, match="5,000 distinct values: give a bandwidth"):
        estimate_adjustments(counts)
    assert len(estimate_adjustments(counts, bandwidth=0.1).values) <= MAX_POINTS


def test_unknown_values_do_not_count() -> None:
    assert estimate_adjustments(
        value_counts({0: 2, 1: 4, 2: 2}, [0, math.nan, 1, 2], [1, 1, 0, math.nan])
    ).floe == pytest.approx(estimate_adjustments().floe)


def test_nothing_known_of_any_relevant_sentence_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to train from"):
        value_counts({0: 1}, [math.nan], [0])


def test_no_sentence_at_the_top_leaves_floe_to_smoothing() -> None:
    assert estimate_adjustments(value_counts({0: 2, 1: 2}, [1, 1], [])).floe == pytest.approx(
        np.log([0.5 / 1.5, 2.5 / 1.5])
    )


@pytest.mark.parametrize(
    "how", [{"delta": -1}, {"bandwidth": "wide"}, {"complement": "none"}, {"outside": "in"}]
)
def test_options_out_of_range_are_refused(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        EstimationOptions.from_values(how)
