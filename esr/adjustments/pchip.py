"""The slopes of PCHIP, a cubic interpolation that preserves the shape of its points.

Interior points follow Fritsch & Butland 1984 (doi:10.1137/0905021), the ends Moler 2004 (Numerical Computing
with MATLAB, section 3.6); docs/formulas.md, B.7. SciPy has the same interpolation, but searches need nothing
else of SciPy, and it would be a third of an installation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def slopes(x: Array, y: Array) -> Array:
    """The slope at each of two or more points whose `x` rises. Not finite where there is none.

    The doubles are those of `scipy.interpolate.PchipInterpolator(x, y).derivative()(x)`, which rankings had
    before: at the last point that is the derivative of the last piece, evaluated at its end.
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
    """Weighted harmonic means of the secants on both sides; 0 where these differ in sign or one is 0."""
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
    """The derivative at each point, of the piece that begins there; at the last point, of the last piece."""
    excess = (at_points[:-1] + at_points[1:] - 2 * secants) / widths
    cubic = excess / widths
    square = (secants - at_points[:-1]) / widths - excess
    offsets = np.append(np.zeros(len(widths)), widths[-1])
    pieces = np.append(np.arange(len(widths)), len(widths) - 1)
    derivatives: Array = 0.0 + at_points[pieces]  # no negative zero
    derivatives += 2 * square[pieces] * offsets
    derivatives += 3 * cubic[pieces] * (offsets * offsets)
    return derivatives
