"""Vectors of 8-bit numbers: a quarter of the bytes of floats, and products that are exact in any order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
LARGEST = 127


class QuantizedVector(NamedTuple):
    """A vector as `scale` times whole numbers from -127 to 127, one byte each."""

    values: bytes
    scale: float
    """A 32-bit float."""

    @property
    def array(self) -> npt.NDArray[np.int8]:
        return np.frombuffer(self.values, np.int8)


def quantize(vector: Floats) -> QuantizedVector:
    """The nearest vector with 8-bit numbers, the largest of them 127 or -127."""
    scale = np.float32(np.abs(vector).max(initial=0.0) / LARGEST)
    if not scale > 0:
        return QuantizedVector(bytes(len(vector)), 0.0)
    values = np.clip(np.rint(vector / scale), -LARGEST, LARGEST).astype(np.int8)
    return QuantizedVector(values.tobytes(), float(scale))
