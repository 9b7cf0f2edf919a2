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
    """`fixed` + `factor` · sentences^`exponent`. `smallest`, `largest`: of the sizes that were measured."""

    fixed: float
    factor: float
    exponent: float
    smallest: int
    largest: int

    def at(self, sentences: float) -> float:
        """Below the smallest size at least its share of what that has: a line may fall below 0 there."""
        value = self.fixed + self.factor * math.pow(sentences, self.exponent)
        if sentences < self.smallest:
            return max(value, self.at(self.smallest) * sentences / self.smallest)
        return value

    def is_measured(self, sentences: float) -> bool:
        """Whether sizes were measured on both sides."""
        return self.smallest <= sentences <= self.largest


def fit(form: Form, sizes: Sequence[int], values: Sequence[float]) -> Growth:
    """The growth through at least two points with positive values."""
    if len(sizes) < 2:
        raise ValueError("growth needs two points")
    n, v = np.array(sizes, float), np.array(values)
    if form == "linear":
        factor, fixed = np.polyfit(n, v, 1, w=1 / v)
        return Growth(float(fixed), float(factor), 1.0, min(sizes), max(sizes))
    exponent, log_factor = np.polyfit(np.log(n), np.log(v), 1)
    return Growth(0.0, math.exp(log_factor), float(exponent), min(sizes), max(sizes))
