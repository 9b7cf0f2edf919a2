"""The slopes of curves are SciPy's, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from esr.models.adjustment import pchip_slopes

numbers = st.one_of(
    st.integers(-5, 5).map(float),
    st.floats(-1000, 1000),
    st.floats(allow_nan=False, allow_infinity=False),
)
points = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=12, unique_by=lambda point: point[0])


def scipy_slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(PchipInterpolator(x, y).derivative()(x))
        except ValueError:  # it finds no finite slope
            return np.full(len(x), np.nan)


@given(points)
def test_slopes_are_the_doubles_of_scipy(points: list[tuple[float, float]]) -> None:
    x, y = np.array(sorted(points)).T
    expected = scipy_slopes(x, y)
    slopes = pchip_slopes(x, y)
    assert np.isfinite(slopes).all() == np.isfinite(expected).all()
    if np.isfinite(expected).all():
        assert slopes.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("x", "y", "slopes"),
    [
        ([0, 2], [1, 5], [2, 2]),  # two points: a line
        ([0, 1, 2], [0, 1, 0], [2, 0, -2]),  # a peak is level, and its ends keep their direction
        ([0, 1, 2], [0, 1, 3], [0.5, 4 / 3, 2.5]),  # the harmonic mean of 1 and 2
        ([0, 1, 2], [0, 0, 1], [0, 0, 1.5]),  # level on one side, level at the point
        ([0, 1, 2], [0, 1, -9], [3, 0, -10 - 5.5]),  # an end is limited to three times its secant
    ],
)
def test_slopes_are_those_computed_by_hand(x: list[float], y: list[float], slopes: list[float]) -> None:
    assert pchip_slopes(np.array(x, float), np.array(y, float)) == pytest.approx(slopes, abs=1e-12)
