"""Rounds bounds to 32 bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def round_outward(values: npt.NDArray[np.float64], *, up: bool) -> npt.NDArray[np.float32]:
    """The values in 32 bits, rounded up or down, so that a bound stays a bound."""
    rounded = values.astype(np.float32)
    is_inside = rounded < values if up else rounded > values
    np.nextafter(rounded, np.float32(np.inf if up else -np.inf), out=rounded, where=is_inside)
    return rounded
