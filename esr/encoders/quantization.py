"""Vectors of floats as vectors of 8-bit numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.documents.vector import QuantizedVector

Floats = npt.NDArray[np.float32]
LARGEST = 127


def quantize(vector: Floats) -> QuantizedVector:
    """The nearest vector with 8-bit numbers, the largest of them 127 or -127."""
    scale = np.float32(np.abs(vector).max(initial=0.0) / LARGEST)
    if not scale > 0:
        return QuantizedVector(bytes(len(vector)), 0.0)
    values = np.clip(np.rint(vector / scale), -LARGEST, LARGEST).astype(np.int8)
    return QuantizedVector(values.tobytes(), float(scale))
