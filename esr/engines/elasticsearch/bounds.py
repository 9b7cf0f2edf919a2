"""The least and the most that a stored number can add to a score, from its least and greatest value."""

from __future__ import annotations

import math

from esr.plans.plan import Static
from esr.plans.statistics import CollectionStatistics

GREATEST_OFFSET = 1e6
"""Beyond it scores of 32 bits would be coarser than a twentieth."""
GREATEST_SCORE = 1e38
WHOLE = ("length", "position")
"""Columns of whole numbers: their least value above 0 is 1."""


def bounds(static: Static, collection: CollectionStatistics) -> tuple[float, float]:
    """(low, high) of what the static adds. A number that need not be known may also add 0.

    The values of the column come from `collection.bounds`; a column that is not there has no values.
    """
    known = collection.bounds.get(static.column)
    if known is None:
        return 0.0, 0.0
    ends = [static.weight * end + static.constant for end in _form_bounds(static, *known)]
    if not static.required:
        ends.append(0.0)
    return min(ends), max(ends)


def _form_bounds(static: Static, low: float, high: float) -> tuple[float, ...]:
    """What the form stays between. Every form but the curve rises with the value."""
    if static.form == "linear":
        return low, high
    if static.form == "log":
        # Next to where the logarithm ends, the least double is all that is known of the sum.
        whole = static.column in WHOLE and static.shift == int(static.shift)
        least = max(static.shift + low, 1.0 if whole else math.ulp(0.0))
        return math.log(least), math.log(max(static.shift + high, least))
    if static.form == "curve":
        curve = static.curve
        assert curve is not None
        return (*curve.adds, *(() if curve.outside is None else (curve.outside,)))
    return 0.0, 1.0  # step, satu, sigm
