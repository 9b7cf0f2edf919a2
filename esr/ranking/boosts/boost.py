"""Boosts: what a query implies beyond its words, added to its plan as weighted terms and steps on features.

`BOOSTS` is the registry. A boost's function returns its expansion at weight 1, so that a plan can be rebuilt
with other weights without expanding again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.hits import Hit
from esr.registry import Parameter, Registry, check_parameters, describe, parse_values

WEIGHT = "w"
"""The parameter that every boost has: it multiplies everything the boost adds."""
Settings = Mapping[str, float]


class BoostQuery(Struct, frozen=True):
    """The input of boosts: the query's text, c(t,q), the index, and a search without boosts.

    `top_hits(n)` returns the best n sentences of the whole index, with their texts.
    """

    text: str
    counts: Mapping[str, int]
    index: Index
    top_hits: Callable[[int], Sequence[Hit]]


class Expansion(Struct, frozen=True):
    """What a boost of weight 1 adds: weighted terms, and features that add 1 where their value is above 0.

    A term of weight x adds x times what one occurrence in the query would add.
    """

    terms: Mapping[str, float] = field(default_factory=dict)
    features: Sequence[str] = ()


class Boost(Struct, frozen=True):
    """A boost: data about itself, and a function from a query to its expansion at weight 1.

    `uses_first_search`: the expansion depends on the results of a search without boosts.
    """

    name: str
    description: str
    source: str
    expand: Callable[[Settings, BoostQuery], Expansion]
    parameters: tuple[Parameter, ...]
    uses_first_search: bool = False

    def settings(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Check parameters and fill in defaults. Raises UsageError for a bad name or value."""
        checked = check_parameters(f"boost {self.name}", self.parameters, values)
        return {name: float(value) for name, value in checked.items()}

    def as_dict(self) -> dict[str, Any]:
        return describe(self)


BOOSTS: Registry[Boost] = Registry("boost", "boosts", Boost)
register: Callable[[Boost], Boost] = BOOSTS.register
get: Callable[[str], Boost] = BOOSTS.find


def weight_parameter(default: float, grid: tuple[float, ...]) -> Parameter:
    """The parameter `w` of a boost, its weight, from 0 to 1e6. `grid` has the values that tuning tries."""
    # Sums of much greater weights overflow.
    return Parameter(WEIGHT, "weight", default, high=1e6, grid=grid)


def from_json(data: Any) -> dict[str, dict[str, Any]]:
    """Read the boosts of a ranking file: `{"variants": 0.2, "feedback": {"w": 0.1, "terms": 10}}`.

    A number is the weight. Returns the checked parameters in the file, without defaults. Raises UsageError.
    """
    if not isinstance(data, Mapping):
        raise UsageError(f'boosts must be a JSON object such as {{"variants": 0.2}}, not {data!r}')
    boosts = {}
    for name, value in data.items():
        values = dict(value) if isinstance(value, Mapping) else {WEIGHT: value}
        settings = get(str(name)).settings(values)
        boosts[str(name)] = {key: settings[key] for key in values}
    return boosts


def to_json(boosts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The boosts as in a ranking file, with every default filled in."""
    settings = {name: get(name).settings(values) for name, values in boosts.items()}
    return {name: values[WEIGHT] if len(values) == 1 else values for name, values in settings.items()}


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Read a boost as `NAME[:WEIGHT][:PARAMETER=VALUE...]`: `variants:0.3` or `feedback:0.1:terms=10`."""
    name, *parts = text.split(":")
    return name, parse_values("--boost", text, parts)
