"""What a boost is, the registry of boosts, and how they are written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from esr.engines.index import Hit, Index
from esr.errors import UsageError, unknown
from esr.parameter import Parameter, described
from esr.registry import Registry

WEIGHT = "w"
"""The parameter that every boost has. All that it adds is multiplied by it."""
Settings = Mapping[str, float]


@dataclass(frozen=True)
class Asked:
    """A query as a boost sees it: its text, c(t,q), the index, and a search for it without any boost.

    `first(n)` gives the best n sentences of the whole index, with their texts.
    """

    text: str
    counts: Mapping[str, int]
    index: Index
    first: Callable[[int], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Added:
    """What a boost of weight 1 adds: terms with their weights, and features of which any is worth 1.

    A term of weight x adds x times what it would if it stood once in the query.
    """

    terms: Mapping[str, float] = field(default_factory=dict)
    features: Sequence[str] = ()


@dataclass(frozen=True)
class Boost:
    """One boost: data about itself, and a function from a query to what it adds at weight 1.

    `searches` says that it looks at the answer of a first search.
    """

    name: str
    description: str
    source: str
    add: Callable[[Settings, Asked], Added]
    parameters: tuple[Parameter, ...]
    searches: bool = False

    def settings(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Checked parameters, defaults filled in. Raises UsageError for a bad name or value."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in values:
            if name not in known:
                raise unknown(f"parameter of boost {self.name}", str(name), known)
        return {name: float(p.check(values.get(name, p.default))) for name, p in known.items()}

    def as_dict(self) -> dict[str, Any]:
        return described(self)


BOOSTS: Registry[Boost] = Registry("boost")
register = BOOSTS.register
get = BOOSTS.find


def weight(default: float, grid: tuple[float, ...]) -> Parameter:
    """The parameter of a boost's weight."""
    return Parameter(WEIGHT, "weight", default, high=float("inf"), open_high=True, grid=grid)


def from_json(data: Any) -> dict[str, dict[str, Any]]:
    """From a ranking file: `{"variants": 0.2, "feedback": {"w": 0.1, "terms": 10}}`; a number is the weight.

    The parameters that are given, checked. Raises UsageError.
    """
    if not isinstance(data, Mapping):
        raise UsageError(f'boosts are a JSON object as {{"variants": 0.2}}, not {data!r}')
    found = {}
    for name, given in data.items():
        values = dict(given) if isinstance(given, Mapping) else {WEIGHT: given}
        full = get(str(name)).settings(values)
        found[str(name)] = {key: full[key] for key in values}
    return found


def to_json(boosts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """As in a ranking file, every default filled in."""
    full = {name: get(name).settings(values) for name, values in boosts.items()}
    return {name: values[WEIGHT] if len(values) == 1 else values for name, values in full.items()}


def parse(text: str) -> tuple[str, dict[str, str]]:
    """From `NAME[:WEIGHT][:PARAMETER=VALUE...]`, as `variants`, `variants:0.3` or `feedback:0.1:terms=10`."""
    name, *parts = text.split(":")
    values: dict[str, str] = {}
    for place, part in enumerate(parts):
        key, equals, value = part.partition("=")
        if not equals:
            key, value = WEIGHT, part
        if key in values or (not equals and place):
            raise UsageError(f"--boost {text!r} has two values where one belongs, or one without a name")
        values[key] = value
    return name, values
