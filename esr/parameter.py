"""What a model's parameter is: its name, range and default, and how a value is checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

from esr.errors import UsageError

Value = float | str

TENTHS = tuple(n / 10 for n in range(11))
INNER_TENTHS = TENTHS[1:-1]


@dataclass(frozen=True)
class Parameter:
    """A number in a range, or one of some choices.

    `open_low` and `open_high` leave the end itself out. `only_with` names the context that the
    parameter needs to mean anything. `grid` holds the values that tuning tries, the papers' where
    they give some (docs/formulas.md, A.14); a parameter without one is not tuned unless asked for. A `whole`
    one takes no fractions.
    """

    name: str
    description: str
    default: Value
    low: float = 0.0
    high: float = 1.0
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()
    only_with: str | None = None
    grid: tuple[Value, ...] = ()
    whole: bool = False

    @property
    def range(self) -> str:
        """The allowed values, for people."""
        if self.choices:
            return " | ".join(self.choices)
        high = ")" if self.open_high or math.isinf(self.high) else "]"
        whole = "whole, " if self.whole else ""
        return f"{whole}{'(' if self.open_low else '['}{self.low:g}, {self.high:g}{high}"

    def check(self, value: Any) -> Value:
        """The value, or a UsageError that names what is allowed. Numbers may come as text."""
        if self.choices:
            if value not in self.choices:
                raise UsageError(f"parameter {self.name!r} is one of {self.range}, not {value!r}")
            return str(value)
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        too_low = number <= self.low if self.open_low else number < self.low
        too_high = number >= self.high if self.open_high else number > self.high
        broken = self.whole and not number.is_integer()
        if math.isnan(number) or math.isinf(number) or too_low or too_high or broken:
            raise UsageError(f"parameter {self.name!r} is a number in {self.range}, not {value!r}")
        return number

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "default": self.default,
            "range": self.range,
            "choices": list(self.choices),
            "only_with": self.only_with,
            "grid": list(self.grid),
        }


class Parametrised(Protocol):
    """What a registry holds that has parameters: a boost, a signal."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...


def described(one: Parametrised) -> dict[str, Any]:
    """What it is, as JSON: for lists that programs read."""
    return {
        "name": one.name,
        "description": one.description,
        "source": one.source,
        "parameters": [parameter.as_dict() for parameter in one.parameters],
    }
