"""A vector of a text as 8-bit numbers: a quarter of the bytes of floats, and products exact in any order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class QuantizedVector(NamedTuple):
    """A vector as `scale` times whole numbers from -127 to 127, one byte each."""

    values: bytes
    scale: float
    """A 32-bit float."""

    @property
    def array(self) -> npt.NDArray[np.int8]:
        return np.frombuffer(self.values, np.int8)
