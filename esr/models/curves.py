"""Curves of trained forms, as data.

They go through points by PCHIP, a cubic interpolation that preserves the shape of its points: no peak or
dip appears between two of them (docs/formulas.md, B.7). SciPy has the same interpolation, but searches
need nothing else of SciPy, which would make up a third of the installation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from esr.errors import UsageError, unknown
from esr.plans.evaluate import Array
from esr.plans.plan import Curve


def pchip_slopes(x: Array, y: Array) -> Array:
    """The slope at each of two or more points with increasing `x`. Not finite where undefined.

    Slopes at interior points follow Fritsch & Carlson 1980 and Fritsch & Butland 1984 (doi:10.1137/0905021),
    those at the ends Moler 2004 (Numerical Computing with MATLAB, section 3.6).

    The results equal `scipy.interpolate.PchipInterpolator(x, y).derivative()(x)` bit for bit, on which stored
    rankings depend: at the last point, that is the derivative of the last piece at its end.
    """
    with np.errstate(all="ignore"):
        widths = np.diff(x)
        secants = np.diff(y) / widths
        if len(x) == 2:
            at_points = np.repeat(secants, 2)
        else:
            at_points = np.zeros(len(x))
            at_points[1:-1] = _interior(widths, secants)
            at_points[0] = _end(widths[0], widths[1], secants[0], secants[1])
            at_points[-1] = _end(widths[-1], widths[-2], secants[-1], secants[-2])
        return _derivatives(widths, secants, at_points)


def _interior(widths: Array, secants: Array) -> Array:
    """Weighted harmonic means of the secants on both sides; 0 where their signs differ or one is 0."""
    before, after = secants[:-1], secants[1:]
    is_flat = (np.sign(before) != np.sign(after)) | (before == 0) | (after == 0)
    weight_before, weight_after = 2 * widths[1:] + widths[:-1], widths[1:] + 2 * widths[:-1]
    inverse = (weight_before / before + weight_after / after) / (weight_before + weight_after)
    return np.where(is_flat, 0.0, 1.0 / inverse)


def _end(width: float, next_width: float, secant: float, next_secant: float) -> float:
    """The three-point estimate, limited so that the curve keeps the direction of its first secant."""
    slope = ((2 * width + next_width) * secant - width * next_secant) / (width + next_width)
    if np.sign(slope) != np.sign(secant):
        return 0.0
    if np.sign(secant) != np.sign(next_secant) and abs(slope) > 3.0 * abs(secant):
        return 3.0 * secant
    return slope


def _derivatives(widths: Array, secants: Array, at_points: Array) -> Array:
    """The derivative at each point of the piece that begins there; at the last point, of the last piece."""
    excess = (at_points[:-1] + at_points[1:] - 2 * secants) / widths
    cubic = excess / widths
    square = (secants - at_points[:-1]) / widths - excess
    offsets = np.append(np.zeros(len(widths)), widths[-1])
    pieces = np.append(np.arange(len(widths)), len(widths) - 1)
    derivatives: Array = 0.0 + at_points[pieces]  # no negative zero
    derivatives += 2 * square[pieces] * offsets
    derivatives += 3 * cubic[pieces] * (offsets * offsets)
    return derivatives


_KEYS = ("values", "adds", "outside")


def fit_curve(values: Sequence[float], adds: Sequence[float], outside: float | None = None) -> Curve:
    """Fit a curve through these points. Raises UsageError if there is none.

    Values outside the range of the points add `outside` or, if it is None, as much as the nearest point.
    """
    if not len(values) or len(values) != len(adds):
        raise UsageError(
            f"a curve must have as many adds as values, at least one, not {len(adds)} and {len(values)}"
        )
    x, y = np.array(values, float), np.array(adds, float)
    if not (np.isfinite(x).all() and np.isfinite(y).all() and math.isfinite(outside or 0.0)):
        raise UsageError("a curve's values and adds must be finite numbers")
    if (x[1:] <= x[:-1]).any():
        raise UsageError("a curve's values must be in strictly increasing order")
    with np.errstate(all="ignore"):
        slopes = pchip_slopes(x, y) if len(x) > 1 else np.zeros(1)
        bends = np.diff(y) / np.diff(x) / np.diff(x)
    if not (np.isfinite(slopes).all() and np.isfinite(bends).all()):
        raise UsageError("a curve's values are too far apart or too close together for a curve through them")
    return Curve(tuple(x.tolist()), tuple(y.tolist()), tuple(slopes.tolist()), outside)


def curve_from_dict(data: Any) -> Curve:
    """Read a curve from JSON: `{"values": [...], "adds": [...]}`, with `"outside"` if it has one."""
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
    """The curve as `curve_from_dict` reads it, which recomputes the slopes."""
    data: dict[str, Any] = {"values": list(curve.values), "adds": list(curve.adds)}
    return data if curve.outside is None else data | {"outside": curve.outside}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
