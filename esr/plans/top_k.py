"""The best k of many scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.plans.evidence import Array


def top_k(scores: Array, k: int) -> npt.NDArray[np.intp]:
    """Places of the k highest scores, highest first, equal ones in their order. O(n + k log k)."""
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        above = np.flatnonzero(scores > threshold)
        ties = np.flatnonzero(scores == threshold)[: k - len(above)]
        places = np.concatenate([above, ties])
        return places[np.lexsort((places, -scores[places]))]
    return np.argsort(-scores, kind="stable")
