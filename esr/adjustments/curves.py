"""Curves through points: shape-preserving, so that no peak or dip appears between two points.

PCHIP (Fritsch & Carlson 1980, with the slopes of Fritsch & Butland 1984); docs/formulas.md, B.7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from esr.adjustments import pchip
from esr.errors import UsageError, unknown
from esr.plans.plan import Curve

_KEYS = ("values", "adds", "outside")


def fit_curve(values: Sequence[float], adds: Sequence[float], outside: float | None = None) -> Curve:
    """The curve through these points. Raises UsageError if there is none.

    `outside` is what values below the first and above the last point add; without it they add what the
    nearest point does.
    """
    if not len(values) or len(values) != len(adds):
        raise UsageError(
            f"a curve must have as many adds as values, at least one, not {len(adds)} and {len(values)}"
        )
    x, y = np.array(values, float), np.array(adds, float)
    if not (np.isfinite(x).all() and np.isfinite(y).all() and math.isfinite(outside or 0.0)):
        raise UsageError("a curve's values and adds must be finite numbers")
    if (x[1:] <= x[:-1]).any():
        raise UsageError("a curve's values must be in strictly rising order")
    with np.errstate(all="ignore"):
        slopes = pchip.slopes(x, y) if len(x) > 1 else np.zeros(1)
        bends = np.diff(y) / np.diff(x) / np.diff(x)
    if not (np.isfinite(slopes).all() and np.isfinite(bends).all()):
        raise UsageError("a curve's values are too far apart or too close together for a curve through them")
    return Curve(tuple(x.tolist()), tuple(y.tolist()), tuple(slopes.tolist()), outside)


def from_dict(data: Any) -> Curve:
    """From JSON: `{"values": [...], "adds": [...]}`, and `"outside"` if it has one."""
    if not isinstance(data, Mapping):
        raise UsageError(f"a curve must be a JSON object, not {data!r}")
    for key in data:
        if key not in _KEYS:
            raise unknown("key of a curve", str(key), _KEYS)
    for key in ("values", "adds"):
        if not isinstance(data.get(key), list) or not all(map(_is_number, data[key])):
            raise UsageError(f"a curve's {key!r} must be a list of numbers, not {data.get(key)!r}")
    outside = data.get("outside")
    if outside is not None and not _is_number(outside):
        raise UsageError(f"a curve's 'outside' must be a number, not {outside!r}")
    try:
        return fit_curve([float(v) for v in data["values"]], [float(v) for v in data["adds"]], outside)
    except OverflowError as error:
        raise UsageError("a curve's values and adds must be finite numbers") from error


def as_dict(curve: Curve) -> dict[str, Any]:
    """As `from_dict` reads it, which computes the slopes again."""
    data: dict[str, Any] = {"values": list(curve.values), "adds": list(curve.adds)}
    return data if curve.outside is None else data | {"outside": curve.outside}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
