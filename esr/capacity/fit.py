"""How a quantity grows with the sentences, through measured points.

`linear`: a fixed part and one for each sentence, by least squares of the relative errors. `power`:
a · sentences^b, by least squares of the logarithms, for what grows more slowly than the collection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

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
    if form == "linear":
        # v ≈ a + b·n, each divided by v: 1 ≈ a/v + b·n/v.
        x, y = [1 / value for value in values], [n / v for n, v in zip(sizes, values, strict=True)]
        xx, xy, yy = _dot(x, x), _dot(x, y), _dot(y, y)
        determinant = xx * yy - xy * xy
        fixed = (math.fsum(x) * yy - math.fsum(y) * xy) / determinant
        return Growth(fixed, (math.fsum(y) * xx - math.fsum(x) * xy) / determinant, 1.0, max(sizes))
    logs, targets = [math.log(size) for size in sizes], [math.log(value) for value in values]
    mean, target = math.fsum(logs) / len(logs), math.fsum(targets) / len(logs)
    x = [log - mean for log in logs]
    exponent = _dot(x, targets) / _dot(x, x)
    return Growth(0.0, math.exp(target - exponent * mean), exponent, max(sizes))


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))
