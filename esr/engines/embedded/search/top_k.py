"""The best sentences of a search, as numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.plans.evidence import Array

Numbers = npt.NDArray[np.int64]


class TopK(NamedTuple):
    """The ordinals of the k best sentences, best first, ties in collection order; their scores; how many
    candidates there are, and how many of them were scored."""

    ordinals: Numbers
    scores: Array
    total: int
    scored: int
