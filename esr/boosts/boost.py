"""What a boost is, the registry of boosts, and their forms in ranking files and on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from esr.engines.index import Hit, Index
from esr.errors import UsageError
from esr.parameter import Parameter, check_parameters, describe, parse_values
from esr.registry import Registry

WEIGHT = "w"
"""The parameter that every boost has. It multiplies all that the boost adds."""
Settings = Mapping[str, float]


class BoostQuery(Struct, frozen=True):
    """A query as a boost sees it: its text, c(t,q), the index, and a search for it without any boost.

    `top_hits(n)` gives the best n sentences of the whole index, with their texts.
    """

    text: str
    counts: Mapping[str, int]
    index: Index
    top_hits: Callable[[int], Sequence[Hit]]


class Expansion(Struct, frozen=True):
    """What a boost of weight 1 adds: weighted terms, and features of which a value above 0 adds 1.

    A term of weight x adds x times what it would add if it occurred once in the query.
    """

    terms: Mapping[str, float] = field(default_factory=dict)
    features: Sequence[str] = ()


class Boost(Struct, frozen=True):
    """One boost: data about itself, and a function from a query to its expansion at weight 1.

    `uses_first_search`: the expansion depends on the results of a search without boosts.
    """

    name: str
    description: str
    source: str
    expand: Callable[[Settings, BoostQuery], Expansion]
    parameters: tuple[Parameter, ...]
    uses_first_search: bool = False

    def settings(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Checked parameters, defaults filled in. Raises UsageError for a bad name or value."""
        checked = check_parameters(f"boost {self.name}", self.parameters, values)
        return {name: float(value) for name, value in checked.items()}

    def as_dict(self) -> dict[str, Any]:
        return describe(self)


BOOSTS: Registry[Boost] = Registry("boost")
register = BOOSTS.register
get = BOOSTS.find


def weight_parameter(default: float, grid: tuple[float, ...]) -> Parameter:
    return Parameter(WEIGHT, "weight", default, high=float("inf"), open_high=True, grid=grid)


def from_json(data: Any) -> dict[str, dict[str, Any]]:
    """From a ranking file: `{"variants": 0.2, "feedback": {"w": 0.1, "terms": 10}}`; a number is the weight.

    Returns the parameters that the file has, checked, without defaults. Raises UsageError.
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
    """As in a ranking file, with every default filled in."""
    settings = {name: get(name).settings(values) for name, values in boosts.items()}
    return {name: values[WEIGHT] if len(values) == 1 else values for name, values in settings.items()}


def parse(text: str) -> tuple[str, dict[str, str]]:
    """From `NAME[:WEIGHT][:PARAMETER=VALUE...]`, as `variants`, `variants:0.3` or `feedback:0.1:terms=10`."""
    name, *parts = text.split(":")
    return name, parse_values("--boost", text, parts)
