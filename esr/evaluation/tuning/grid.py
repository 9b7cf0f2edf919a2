"""Settings to try: the values of each parameter, and every combination that makes sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from esr import models
from esr.errors import UsageError
from esr.models.parameter import Value
from esr.plans.statistics import CollectionStatistics, Statistics
from esr.ranking.ranking import Ranking

Grid = Mapping[str, Sequence[Value]]


def default(ranking: Ranking) -> Grid:
    """The values of the model's own grid, for the parameters that its context uses.

    A parameter that the ranking sets itself is kept as it is.
    """
    model = models.get(ranking.model)
    context = ranking.settings().context
    return {
        p.name: p.grid
        for p in model.parameters
        if p.grid and p.name not in ranking.params and p.only_with in (None, context)
    }


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
            replace(ranking, params={**ranking.params, name: value})  # checked when made
    found = list(_combinations(ranking, grid))
    if not found:
        raise UsageError("no combination of the grid's values is allowed: shares add up to more than 1")
    return found


def _combinations(ranking: Ranking, grid: Grid) -> Iterator[Ranking]:
    for values in product(*grid.values()):
        candidate = replace(ranking, params={**ranking.params, **dict(zip(grid, values, strict=True))})
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
