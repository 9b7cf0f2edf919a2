"""Settings to try: the values of each parameter, and every combination that makes sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from esr import adjustments, models
from esr.errors import UsageError, unknown
from esr.parameter import Value
from esr.plans.statistics import CollectionStatistics, Statistics
from esr.ranking.ranking import Ranking

Grid = Mapping[str, Sequence[Value]]


def default(ranking: Ranking) -> Grid:
    """The values of the model's own grid, for the parameters that its context uses, and of the features'.

    A parameter that the ranking sets itself is kept as it is. A feature's is called `subj.w`.
    """
    model = models.get(ranking.model)
    context = ranking.settings().context
    of_model = {
        p.name: p.grid
        for p in model.parameters
        if p.grid and p.name not in ranking.params and p.only_with in (None, context)
    }
    of_features = {
        f"{each.feature}.{p.name}": p.grid
        for each in ranking.features
        for p in adjustments.get(each.form).parameters
        if p.grid and p.name not in each.params
    }
    of_signals = {
        f"{each.signal}.{p.name}": p.grid
        for each in ranking.rerank
        for p in each.parameters
        if p.grid and p.name not in each.params
    }
    return of_model | of_features | of_signals


def placed(ranking: Ranking, values: Mapping[str, Value]) -> Ranking:
    """The ranking with these parameters, of its model or of its features. Raises UsageError for a bad one."""
    params, features, rerank = dict(ranking.params), list(ranking.features), list(ranking.rerank)
    for name, value in values.items():
        feature, dot, param = name.partition(".")
        if not dot:
            params[name] = value
            continue
        signal = [n for n, each in enumerate(rerank) if each.signal == feature]
        if signal:
            each = rerank[signal[0]]
            rerank[signal[0]] = replace(each, params={**each.params, param: value})
            continue
        at = _feature_at(ranking, feature, param)
        changed = {**features[at].params, param: value}
        features[at] = replace(features[at], params=changed)  # type: ignore[arg-type]  # checked when made
    return replace(ranking, params=params, features=tuple(features), rerank=tuple(rerank))


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
    named = {f"{each.feature}.{name}": v for each in ranking.features for name, v in each.params.items()}
    of_signals = {f"{each.signal}.{name}": v for each in ranking.rerank for name, v in each.params.items()}
    return {**ranking.params, **named, **of_signals}


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
