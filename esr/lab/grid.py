"""Grids: the values to try for the parameters of a ranking.

Parameters of features, signals and boosts are named `part.parameter`, like `subj.w`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from msgspec.structs import replace

from esr.plugin import Parameter, Statistics, UsageError
from esr.plugin.provisional import (
    CollectionStatistics,
    Ranking,
    Value,
    get_boost,
    get_form,
    get_model,
    unknown,
)

Grid = Mapping[str, Sequence[Value]]


class TunablePart(NamedTuple):
    """A part of a ranking with its own parameters: a feature in a form, a signal or a boost.

    In a grid its parameters are named `name.parameter`, like `subj.w`. `values` has those that the ranking
    sets.
    """

    name: str
    parameters: Sequence[Parameter]
    values: Mapping[str, Value]


def find_tunable_parts(ranking: Ranking) -> list[TunablePart]:
    """The parts of a ranking that have parameters, except its model."""
    return [
        *(TunablePart(f.feature, get_form(f.form).parameters, f.params) for f in ranking.features),
        *(TunablePart(s.signal, s.parameters, s.for_query("").params) for s in ranking.rerank),
        *(TunablePart(name, get_boost(name).parameters, params) for name, params in ranking.boosts.items()),
    ]


def build_default_grid(ranking: Ranking) -> Grid:
    """The default grids of all parameters that the ranking leaves open, of its model and its other parts."""
    model = get_model(ranking.model)
    context = ranking.settings().context
    set_by_ranking = ranking.for_query("").params
    model_grid = {
        p.name: p.grid
        for p in model.parameters
        if p.grid and p.name not in set_by_ranking and p.only_with in (None, context)
    }
    return model_grid | {
        f"{part.name}.{p.name}": p.grid
        for part in find_tunable_parts(ranking)
        for p in part.parameters
        if p.grid and p.name not in part.values
    }


def set_parameters(ranking: Ranking, values: Mapping[str, Value]) -> Ranking:
    """The ranking with these parameters, of any part. Raises UsageError for an invalid one."""
    params, features, rerank = dict(ranking.params), list(ranking.features), list(ranking.rerank)
    boost_params = dict(ranking.boosts)
    for name, value in values.items():
        part, dot, param = name.partition(".")
        if not dot:
            params[name] = value
            continue
        if part in boost_params:
            boost_params[part] = {**boost_params[part], param: value}
            continue
        position = next((n for n, signal in enumerate(rerank) if signal.signal == part), None)
        if position is not None:
            signal = rerank[position]
            rerank[position] = replace(signal, params={**signal.params, param: value})
            continue
        position = _find_feature(ranking, part, param)
        new_params = {**features[position].params, param: value}
        features[position] = replace(features[position], params=new_params)
    return replace(
        ranking, params=params, features=tuple(features), rerank=tuple(rerank), boosts=boost_params
    )


def _find_feature(ranking: Ranking, feature: str, param: str) -> int:
    """The position of the feature, in the form that has the parameter, among those of the ranking."""
    positions = [n for n, f in enumerate(ranking.features) if f.feature == feature]
    if not positions:
        raise unknown("feature of the ranking", feature, [f.feature for f in ranking.features])
    with_param = [
        n for n in positions if param in {p.name for p in get_form(ranking.features[n].form).parameters}
    ]
    if len(with_param) > 1:
        raise UsageError(
            f"{feature}.{param} is ambiguous, two forms of {feature} have it: tune one form at a time"
        )
    return with_param[0] if with_param else positions[0]


def read_parameters(ranking: Ranking) -> dict[str, Value]:
    """The parameters that the ranking sets, under their names in grids."""
    of_parts = {
        f"{part.name}.{name}": value
        for part in find_tunable_parts(ranking)
        for name, value in part.values.items()
    }
    return {**ranking.params, **of_parts}


def parse_grid(texts: Sequence[str]) -> Grid:
    """Parse texts like `name=v1,v2,...`. Raises UsageError for malformed ones."""
    grid: dict[str, list[Value]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values.strip(","):
            raise UsageError(f"--grid needs NAME=VALUE,VALUE,..., not {text!r}")
        grid[name.strip()] = [_parse_value(value.strip()) for value in values.split(",") if value.strip()]
    return grid


def expand_grid(ranking: Ranking, grid: Grid) -> list[Ranking]:
    """All valid combinations of the grid.

    Combinations whose shares add up to more than 1 are left out, as in the papers. Raises UsageError if a
    single value is out of range, or if no combination is valid.
    """
    for name, values in grid.items():
        for value in values:
            set_parameters(ranking, {name: value})
    settings = list(_iterate_valid(ranking, grid))
    if not settings:
        raise UsageError(
            "the grid has no valid combination, shares always add up to more than 1: use smaller values"
        )
    return settings


def _iterate_valid(ranking: Ranking, grid: Grid) -> Iterator[Ranking]:
    for values in product(*grid.values()):
        setting = set_parameters(ranking, dict(zip(grid, values, strict=True)))
        if is_valid(setting):
            yield setting


def is_valid(ranking: Ranking) -> bool:
    """Whether the parameters are compatible with each other. Each of them must already be in range."""
    try:
        check_compatible(ranking)
    except UsageError:
        return False
    return True


def check_compatible(ranking: Ranking) -> None:
    """Raise UsageError if the parameters of the ranking, or of a signal, are incompatible with each other."""
    for part in (ranking, *_models_of_signals(ranking)):
        part.plan({}, Statistics(CollectionStatistics(), {}))


def _models_of_signals(ranking: Ranking) -> Iterator[Ranking]:
    """The models that the ranking adds as signals, such as `2si both`, each as a ranking of its own."""
    for signal in ranking.rerank:
        if signal.type.group == "models":
            name, _, context = signal.signal.partition(" ")
            params = {key: value for key, value in signal.params.items() if key != "w"}
            yield Ranking(name, context or None, params)


def _parse_value(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text
