"""The least and the most that a stored number can add to a score, from its least and greatest value."""

from __future__ import annotations

import math

from esr.plans.plan import FEATURES, Static
from esr.plans.statistics import CollectionStatistics

GREATEST_OFFSET = 1e6
"""Beyond it scores of 32 bits would be coarser than a twentieth."""
GREATEST_SCORE = 1e38


def bounds(static: Static, collection: CollectionStatistics) -> tuple[float, float]:
    """(low, high) of what the static adds. A number that need not be known may also add 0.

    The values of the column come from `collection.bounds`; a static that is not there has no values.
    """
    known = collection.bounds.get(static)
    if known is None:
        return 0.0, 0.0
    ends = [static.weight * end + static.constant for end in _form_bounds(static, *known)]
    # Of what is required, only a logarithm's value is asked for; a feature that is not there adds 0.
    if not static.required or (static.column.startswith(FEATURES) and static.form != "log"):
        ends.append(0.0)
    return min(ends), max(ends)


def above(static: Static) -> float | None:
    """What the form wants its values to be above, if anything."""
    return 0.0 - static.shift if static.form == "log" else None  # 0.0, since 0.0 is above -0.0 there


def _form_bounds(static: Static, low: float, high: float) -> tuple[float, ...]:
    """What the form stays between. Every form but the curve rises with the value."""
    if static.form == "linear":
        return low, high
    if static.form == "log":
        return math.log(static.shift + low), math.log(static.shift + high)
    if static.form == "curve":
        curve = static.curve
        assert curve is not None
        return (*curve.adds, *(() if curve.outside is None else (curve.outside,)))
    return 0.0, 1.0  # step, satu, sigm
