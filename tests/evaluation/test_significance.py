import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from esr.errors import UsageError
from esr.evaluation import significance
from esr.evaluation.significance import compare_systems, correct_by_holm, correct_p_values


def values(seed, topics=40, offset=0.0):
    numbers = np.random.default_rng(seed).random(topics)
    return {f"q{n}": float(value) + offset for n, value in enumerate(numbers)}


def mean_difference(x, y, axis):
    return np.mean(x - y, axis=axis)


def test_figures_equal_those_of_scipy():
    a, b = values(1, offset=0.1), values(2)
    result = compare_systems(a, b)
    x, y = np.array(list(a.values())), np.array(list(b.values()))
    test = stats.ttest_rel(x, y)
    interval = test.confidence_interval(0.95)
    assert (result.t_test, result.low, result.high) == (test.pvalue, interval.low, interval.high)
    assert result.difference == np.mean(x - y)
    swaps = stats.permutation_test(
        (x, y),
        mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=10_000,
        rng=np.random.default_rng(0),
    )
    assert result.randomisation == swaps.pvalue
    assert (result.wins, result.ties, result.losses) == ((x > y).sum(), 0, (x < y).sum())


def test_topics_are_paired_by_name():
    a, b = values(1), values(2)
    assert compare_systems(a, dict(reversed(b.items()))) == compare_systems(a, b)


def test_figures_are_reproducible_and_depend_on_the_seed():
    a, b = values(1, 200), values(2, 200)
    assert compare_systems(a, b) == compare_systems(a, b)
    assert compare_systems(a, b, seed=1).randomisation != compare_systems(a, b).randomisation
    in_thousandths = compare_systems(a, b, resamples=999).randomisation * 1000
    assert in_thousandths == pytest.approx(round(in_thousandths))


def test_few_topics_are_permuted_exhaustively():
    a = {"1": 0.5, "2": 0.6, "3": 0.7}
    b = {"1": 0.1, "2": 0.1, "3": 0.1}
    assert compare_systems(a, b).randomisation == 2 / 8


def test_equal_runs_do_not_differ_and_a_constant_difference_does():
    a = {"1": 0.5, "2": 0.25}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = compare_systems(a, a)
        above = compare_systems({t: v + 0.25 for t, v in a.items()}, a)
    assert (same.t_test, same.randomisation, same.low, same.high, same.ties) == (1.0, 1.0, 0.0, 0.0, 2)
    assert (above.t_test, above.low, above.high, above.wins) == (0.0, 0.25, 0.25, 2)


def test_one_topic_gives_no_p_value():
    result = compare_systems({"1": 1.0}, {"1": 0.0})
    assert math.isnan(result.t_test) and math.isnan(result.randomisation)
    assert result.mark == ""
    assert json.loads(json.dumps(result.as_dict(), allow_nan=False))["t_test"] is None


@pytest.mark.parametrize(("a", "b"), [({}, {}), ({"1": 1.0}, {"2": 1.0}), ({"1": 1.0}, {})])
def test_different_topics_cannot_be_compared(a, b):
    with pytest.raises(UsageError, match="the same topics"):
        compare_systems(a, b)


def test_holm_corrects_step_by_step():
    assert correct_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert correct_by_holm([0.01, math.nan, 0.6]) == pytest.approx([0.02, math.nan, 0.6], nan_ok=True)
    assert correct_by_holm([0.9, 0.8]) == [1.0, 1.0]
    assert correct_by_holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_lies_between_no_correction_and_bonferroni(p_values):
    result = correct_by_holm(p_values)
    for p, q in zip(p_values, result, strict=True):
        assert p <= q <= min(1.0, len(p_values) * p)
    for p, q in zip(p_values, result, strict=True):
        assert all(q <= next_q for next_p, next_q in zip(p_values, result, strict=True) if p < next_p)
    assert min(result) == min(1.0, len(p_values) * min(p_values))


def test_marks_follow_the_corrected_t_test():
    base = values(1)
    close = {t: v + (0.07 if n % 2 else -0.033) for n, (t, v) in enumerate(base.items())}
    weak = compare_systems(close, base)
    assert 0.01 < weak.t_test < 0.05
    assert weak.mark == "*"
    clear = compare_systems({t: v + (0.11 if n % 2 else 0.1) for n, (t, v) in enumerate(base.items())}, base)
    assert clear.mark == "**"
    many = correct_p_values([weak, *[compare_systems(values(9), base)] * 5])
    assert many[0].t_test == weak.t_test
    assert many[0].t_test_holm == pytest.approx(6 * weak.t_test)
    assert many[0].randomisation_holm == pytest.approx(6 * weak.randomisation)
    assert many[0].mark == ""


@pytest.mark.slow
def test_thousands_of_topics_fit_in_memory():
    import tracemalloc

    a, b = values(1, 4000), values(2, 4000)
    tracemalloc.start()
    compare_systems(a, b, resamples=2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    assert significance.RESAMPLES == 10_000
