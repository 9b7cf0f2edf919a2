"""The least and the most that a static can add to a score, given the range of its column's values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from esr.plans.plan import FEATURE_PREFIX, Curve, Static
from esr.plans.statistics import CollectionStatistics

GREATEST_OFFSET = 1e6
"""With a larger one, 32-bit scores would be coarser than a twentieth."""
GREATEST_SCORE = 1e38


def static_bounds(static: Static, collection: CollectionStatistics) -> tuple[float, float]:
    """The least and the most that the static adds. A value that may be missing can also add 0.

    The values of the column come from `collection.bounds`; a static that is not in there has no values.
    """
    values = collection.bounds.get(static)
    if values is None:
        return 0.0, 0.0
    extremes = [static.weight * value + static.constant for value in _form_bounds(static, *values)]
    # Only a logarithm's value is enforced where it is required; a missing feature adds 0.
    if not static.required or (static.column.startswith(FEATURE_PREFIX) and static.form != "log"):
        extremes.append(0.0)
    return min(extremes), max(extremes)


def exclusive_minimum(static: Static) -> float | None:
    """The number that values of the static's form must exceed, or None."""
    return 0.0 - static.shift if static.form == "log" else None  # 0.0, as Elasticsearch ranks 0.0 above -0.0


def _form_bounds(static: Static, low: float, high: float) -> tuple[float, ...]:
    """Values between which the form stays. Every form but the curve rises with the column's value."""
    if static.form == "linear":
        return low, high
    if static.form == "log":
        return math.log(static.shift + low), math.log(static.shift + high)
    if static.form == "curve":
        assert static.curve is not None
        return tuple(_curve_bounds(static.curve))
    return 0.0, 1.0  # step, satu, sigm


def _curve_bounds(curve: Curve) -> Iterator[float]:
    """Values between which a curve stays.

    A cubic stays between its four Bézier ordinates. Those inside an interval lie between its ends where the
    curve rises or falls all the way, as estimated curves do, and may lie outside for other slopes.
    """
    yield from curve.adds
    if curve.outside is not None:
        yield curve.outside
    points = zip(curve.values, curve.adds, curve.slopes, strict=True)
    for (x0, y0, slope0), (x1, y1, slope1) in pairwise(points):
        third = (x1 - x0) / 3.0
        yield y0 + slope0 * third
        yield y1 - slope1 * third
