"""What a static adds stays within its bounds, whatever the number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.adjustments.curves import fit_curve
from esr.engines.elasticsearch.store.static_bounds import static_bounds
from esr.plans.evaluate import score_static
from esr.plans.plan import Curve, Static
from esr.plans.statistics import CollectionStatistics

NUMBERS = st.floats(-100.0, 100.0)


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """Curves of any slopes, which may turn between two of their values."""
    values = sorted(draw(st.sets(st.integers(-50, 50), min_size=1, max_size=5)))
    adds, slopes = (draw(st.tuples(*[NUMBERS] * len(values))) for _ in range(2))
    return Curve(tuple(map(float, values)), adds, slopes, draw(st.none() | NUMBERS))


def curve_bounds(curve: Curve, weight: float) -> tuple[Static, float, float]:
    static = Static("length", "curve", weight, curve=curve, required=True)
    low, high = static_bounds(static, CollectionStatistics(bounds={static: (-60.0, 60.0)}))
    return static, low, high


@given(curve=curves(), weight=st.sampled_from([-2.0, 1.0]))
def test_a_curve_of_any_slopes_stays_within_its_bounds(curve: Curve, weight: float) -> None:
    static, low, high = curve_bounds(curve, weight)
    added = score_static(static, np.linspace(-60.0, 60.0, 2001))
    assert low - 1e-6 <= added.min() and added.max() <= high + 1e-6


def test_the_bounds_of_an_estimated_curve_are_its_least_and_its_greatest_value() -> None:
    adds = [0.5, -1.0, 2.0, 2.0, 7.0]
    _, low, high = curve_bounds(fit_curve([0.0, 1.0, 3.0, 10.0, 11.0], adds), 1.0)
    assert (low, high) == pytest.approx((-1.0, 7.0))
