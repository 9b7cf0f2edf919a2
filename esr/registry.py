"""Registries of items such as models, boosts and formats, and the parameters of items.

A parameter has a name, a range and a default. Values are checked by its range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from esr.errors import UsageError, unknown
from esr.installed_plugins import PLUGINS, Kind


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registry(MutableMapping[str, T]):
    """Items by name, in the order of registration: those of esr, then those of plug-ins.

    `kind` is the word for an item in messages. Plug-ins declare items in `field` of `esr.plugin.Plugin`, and
    each must be a `type`; without a field, they declare none. Installed plug-ins are read when a name is
    unknown, and when all items are listed.
    """

    def __init__(self, kind: str, field: str = "", type: type[T] | None = None) -> None:
        self._kind = Kind(field, kind, type or object)
        self._registered: dict[str, T] = {}

    @property
    def built_in(self) -> Mapping[str, T]:
        """The items without those of installed plug-ins, for what cannot wait until these are read."""
        if not self._kind.field:
            return self._registered
        return {**self._registered, **PLUGINS.find_shipped(self._kind)}

    @property
    def from_plugins(self) -> Mapping[str, T]:
        """The items of installed plug-ins, without those that cannot be used, which are reported."""
        return PLUGINS.find_all(self._kind, self._registered) if self._kind.field else {}

    def register(self, item: T) -> T:
        self[item.name] = item
        return item

    def find(self, name: str) -> T:
        """Return the item of that name. Raises UsageError with the nearest name, and PluginError."""
        try:
            return self[name]
        except KeyError:
            raise unknown(self._kind.word, name, self) from None

    def report_failure(self, item: T, error: Exception) -> None:
        """Report that an item of a plug-in raised an error, where the others can be used without it.

        The error is raised again if the item is one of esr.
        """
        if item.name in self.built_in:
            raise error
        PLUGINS.report_failure(self._kind, item.name, error)

    def __getitem__(self, name: str) -> T:
        if name in self._registered:
            return self._registered[name]
        item: T | None = PLUGINS.find(self._kind, name) if self._kind.field else None
        if item is None:
            raise KeyError(name)
        return item

    def __setitem__(self, name: str, item: T) -> None:
        self._registered[name] = item

    def __delitem__(self, name: str) -> None:
        del self._registered[name]

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from self.from_plugins

    def __len__(self) -> int:
        return len(self.built_in) + len(self.from_plugins)


Value = float | str

TENTHS = tuple(n / 10 for n in range(11))
INNER_TENTHS = TENTHS[1:-1]


class Parameter(Struct, frozen=True):
    """A number in a range, or one of several choices.

    `open_low` and `open_high` exclude the bound itself. `only_with` names the context in which the parameter
    has an effect. `grid` has the values that tuning tries, those of the papers if given (docs/formulas.md,
    A.14); a parameter without a grid is tuned only on request. An `integer` takes no fractions.
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
    integer: bool = False

    @property
    def range(self) -> str:
        """The allowed values, for people."""
        if self.choices:
            return " | ".join(self.choices)
        return f"whole, {self.interval}" if self.integer else self.interval

    @property
    def interval(self) -> str:
        """The allowed numbers, such as `[0, 1)`."""
        high = ")" if self.open_high or math.isinf(self.high) else "]"
        return f"{'(' if self.open_low else '['}{self.low:g}, {self.high:g}{high}"

    def check(self, value: Any) -> Value:
        """Return the checked value, as a number if it is a text of one. Raises UsageError."""
        if self.choices:
            if value not in self.choices:
                raise UsageError(f"parameter {self.name!r} must be one of {self.range}, not {value!r}")
            return str(value)
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        too_low = number <= self.low if self.open_low else number < self.low
        too_high = number >= self.high if self.open_high else number > self.high
        is_fraction = self.integer and not number.is_integer()
        if math.isnan(number) or math.isinf(number) or too_low or too_high or is_fraction:
            if self.integer:
                raise UsageError(
                    f"parameter {self.name!r} must be a whole number in {self.interval}, not {value!r}"
                )
            raise UsageError(f"parameter {self.name!r} must be a number in {self.interval}, not {value!r}")
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


def check_parameters(
    owner: str, parameters: Sequence[Parameter], values: Mapping[str, Any]
) -> dict[str, Value]:
    """All parameters by name, with defaults filled in. Raises UsageError for a bad name or value."""
    by_name = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in by_name:
            raise unknown(f"parameter of {owner}", str(name), by_name)
    return {name: parameter.check(values.get(name, parameter.default)) for name, parameter in by_name.items()}


class Parametrised(Protocol):
    """A registered item with parameters: a boost, a signal."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...


def describe(item: Parametrised) -> dict[str, Any]:
    """The item's description as JSON, for lists that programs read."""
    return {
        "name": item.name,
        "description": item.description,
        "source": item.source,
        "parameters": [parameter.as_dict() for parameter in item.parameters],
    }


def parse_values(flag: str, text: str, parts: Sequence[str]) -> dict[str, str]:
    """Read the values of `[WEIGHT][:PARAMETER=VALUE...]`, split at colons; the weight is named `w`.

    Raises UsageError, naming the flag and its whole text.
    """
    values: dict[str, str] = {}
    for position, part in enumerate(parts):
        name, equals, value = part.partition("=")
        if not equals:
            name, value = "w", part
        if name in values or (not equals and position):
            raise UsageError(
                f"{flag} {text!r}: give each parameter once, and all but a leading weight as NAME=VALUE"
            )
        values[name] = value
    return values
