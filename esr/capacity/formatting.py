"""Sizes and times for people: two or three digits, and "~" for what is extrapolated."""

from __future__ import annotations

from esr.capacity.plan import Need

_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_SECONDS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))


def format_need(need: Need) -> str:
    return ("" if need.is_measured else "~") + format_value(need.value, need.unit)


def format_value(value: float, unit: str) -> str:
    """A number of bytes ("B"), of seconds ("s"), or of things ("")."""
    if unit == "B":
        step, name = next((step for step in _BYTES if value >= step[0]), (1.0, "B"))
    elif unit == "s":
        step, name = next((step for step in _SECONDS if value >= step[0]), (0.001, "ms"))
    else:
        return f"{value:,.0f}"
    return f"{_round(value / step)} {name}"


def _round(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
