"""Settings to try: the values of each parameter, and every combination that makes sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from esr import adjustments, boosts, models
from esr.errors import UsageError, unknown
from esr.parameter import Parameter, Value
from esr.plans.statistics import CollectionStatistics, Statistics
from esr.ranking.ranking import Ranking

Grid = Mapping[str, Sequence[Value]]


class Part(NamedTuple):
    """What of a ranking has parameters of its own: an adjusted feature, a signal or a boost.

    A grid calls a parameter of it `name.parameter`, as `subj.w`; `given` are those that the ranking sets.
    """

    name: str
    parameters: Sequence[Parameter]
    given: Mapping[str, Value]


def parts(ranking: Ranking) -> list[Part]:
    """All of a ranking that has parameters, but for its model."""
    return [
        *(
            Part(each.feature, adjustments.get(each.form).parameters, each.params)
            for each in ranking.features
        ),
        *(Part(each.signal, each.parameters, each.params) for each in ranking.rerank),
        *(Part(name, boosts.get(name).parameters, given) for name, given in ranking.boosts.items()),
    ]


def default(ranking: Ranking) -> Grid:
    """The values of the model's own grid, for what its context uses, and of the other parts.

    A parameter that the ranking sets itself is kept as it is.
    """
    model = models.get(ranking.model)
    context = ranking.settings().context
    of_model = {
        p.name: p.grid
        for p in model.parameters
        if p.grid and p.name not in ranking.params and p.only_with in (None, context)
    }
    return of_model | {
        f"{part.name}.{p.name}": p.grid
        for part in parts(ranking)
        for p in part.parameters
        if p.grid and p.name not in part.given
    }


def placed(ranking: Ranking, values: Mapping[str, Value]) -> Ranking:
    """The ranking with these parameters, of whatever part. Raises UsageError for a bad one."""
    params, features, rerank = dict(ranking.params), list(ranking.features), list(ranking.rerank)
    boosted = dict(ranking.boosts)
    for name, value in values.items():
        feature, dot, param = name.partition(".")
        if not dot:
            params[name] = value
            continue
        if feature in boosted:
            boosted[feature] = {**boosted[feature], param: value}
            continue
        signal = [n for n, each in enumerate(rerank) if each.signal == feature]
        if signal:
            each = rerank[signal[0]]
            rerank[signal[0]] = replace(each, params={**each.params, param: value})
            continue
        at = _feature_at(ranking, feature, param)
        changed = {**features[at].params, param: value}
        features[at] = replace(features[at], params=changed)  # type: ignore[arg-type]  # checked when made
    return replace(ranking, params=params, features=tuple(features), rerank=tuple(rerank), boosts=boosted)


def _feature_at(ranking: Ranking, feature: str, param: str) -> int:
    named = [n for n, each in enumerate(ranking.features) if each.feature == feature]
    if not named:
        raise unknown("feature of the ranking", feature, [each.feature for each in ranking.features])
    taking = [
        n for n in named if param in {p.name for p in adjustments.get(ranking.features[n].form).parameters}
    ]
    if len(taking) > 1:
        raise UsageError(
            f"{feature}.{param} is a parameter of two forms of {feature}: tune one after the other"
        )
    return taking[0] if taking else named[0]


def values_of(ranking: Ranking) -> dict[str, Value]:
    """The parameters that the ranking sets, by the names that a grid has for them."""
    named = {f"{part.name}.{name}": value for part in parts(ranking) for name, value in part.given.items()}
    return {**ranking.params, **named}


def parse(texts: Sequence[str]) -> Grid:
    """From `name=v1,v2,...`. Raises UsageError for another form."""
    grid: dict[str, list[Value]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values.strip(","):
            raise UsageError(f"--grid wants NAME=VALUE,VALUE,..., not {text!r}")
        grid[name.strip()] = [_value(value.strip()) for value in values.split(",") if value.strip()]
    return grid


def settings(ranking: Ranking, grid: Grid) -> list[Ranking]:
    """Every combination that the model takes. Raises UsageError if a value alone is out of range.

    Combinations whose shares add up to more than 1 are left out, as in the papers.
    """
    for name, values in grid.items():
        for value in values:
            placed(ranking, {name: value})
    found = list(_combinations(ranking, grid))
    if not found:
        raise UsageError("no combination of the grid's values is allowed: shares add up to more than 1")
    return found


def _combinations(ranking: Ranking, grid: Grid) -> Iterator[Ranking]:
    for values in product(*grid.values()):
        candidate = placed(ranking, dict(zip(grid, values, strict=True)))
        if is_allowed(candidate):
            yield candidate


def is_allowed(ranking: Ranking) -> bool:
    """Whether the parameters go together. Each by itself is in range already."""
    try:
        ranking.plan({}, Statistics(CollectionStatistics(), {}))
    except UsageError:
        return False
    return True


def _value(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text
