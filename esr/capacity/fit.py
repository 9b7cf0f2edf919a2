"""How a quantity grows with the sentences, through measured points.

`linear`: a fixed part and one for each sentence, by least squares of the relative errors. `power`:
a · sentences^b, by least squares of the logarithms, for what grows more slowly than the collection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

Form = Literal["linear", "power"]


class Growth(NamedTuple):
    """`fixed` + `factor` · sentences^`exponent`. `largest`: of the sizes that were measured."""

    fixed: float
    factor: float
    exponent: float
    largest: int

    def at(self, sentences: float) -> float:
        return self.fixed + self.factor * math.pow(sentences, self.exponent)

    def is_extrapolated(self, sentences: float) -> bool:
        return sentences > self.largest


def fit(form: Form, sizes: Sequence[int], values: Sequence[float]) -> Growth:
    """The growth through at least two points with positive values."""
    if len(sizes) < 2:
        raise ValueError("growth needs two points")
    n, v = np.array(sizes, float), np.array(values)
    if form == "linear":
        factor, fixed = np.polyfit(n, v, 1, w=1 / v)
        return Growth(float(fixed), float(factor), 1.0, max(sizes))
    exponent, log_factor = np.polyfit(np.log(n), np.log(v), 1)
    return Growth(0.0, math.exp(log_factor), float(exponent), max(sizes))
