"""Bounds that are rounded to 32 bits stay bounds."""

from __future__ import annotations

import numpy as np
import pytest

from esr.plans.rounding import round_outward


@pytest.mark.parametrize("up", [True, False])
def test_rounding_outward_moves_no_bound_inward(up: bool) -> None:
    values = np.concatenate([np.linspace(-2.0, 2.0, 1001), [0.0, 1e-60, -1e-60, 1 / 3, 16_777_217.0]])
    rounded = round_outward(values, up=up)
    assert rounded.dtype == np.float32
    assert (rounded >= values).all() if up else (rounded <= values).all()
    np.testing.assert_allclose(rounded, values, rtol=1e-6, atol=1e-44)
    exact = values.astype(np.float32) == values
    assert (rounded[exact] == values[exact]).all()
