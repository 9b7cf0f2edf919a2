"""Ways through the settings: all of a grid, or one parameter after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from esr.evaluation.tuning.figures import Table, Tuner
from esr.evaluation.tuning.grid import Grid, is_allowed, parts, placed, settings, values_of
from esr.parameter import Value
from esr.ranking.ranking import Ranking

Tick = Callable[[int], None]


class Tuned(NamedTuple):
    """The best setting, its figure of shape (topics,), and all that was tried."""

    ranking: Ranking
    figures: Table
    tried: list[tuple[Ranking, float]]


def full(tuner: Tuner, ranking: Ranking, grid: Grid, tick: Tick = lambda n: None) -> Tuned:
    """Every combination of the grid; of equals the first."""
    every = settings(ranking, grid)
    table = tuner.table(every, tick)
    return _best(every, table)


def ascent(tuner: Tuner, ranking: Ranking, grid: Grid, tick: Tick = lambda n: None) -> Tuned:
    """One parameter at a time, over and over, until none makes the figure better.

    Ends at a setting that no single step of the grid improves: not always the best of all.
    """
    current = ranking
    named = values_of(current)
    if not is_allowed(current) or not all(named.get(name) in values for name, values in grid.items()):
        current = _start(ranking, grid)
    figures = tuner.table([current], tick)[0]
    tried = [(current, float(figures.mean()))]
    improved = True
    while improved:
        improved = False
        for name, values in grid.items():
            steps = [placed(current, {name: v}) for v in values]
            allowed = [step for step in steps if is_allowed(step)]
            found = _best(allowed, tuner.table(allowed, tick))
            tried += found.tried
            if found.figures.mean() > figures.mean():
                current, figures, improved = found.ranking, found.figures, True
    return Tuned(current, figures, tried)


def _start(ranking: Ranking, grid: Grid) -> Ranking:
    """The values of the grid that are nearest to the defaults of the ranking's parts."""
    defaults = dict(ranking.settings().values)
    for part in parts(ranking):
        defaults |= {f"{part.name}.{p.name}": part.given.get(p.name, p.default) for p in part.parameters}
    start = placed(ranking, {name: _nearest(values, defaults[name]) for name, values in grid.items()})
    return start if is_allowed(start) else settings(ranking, grid)[0]


def _nearest(values: Sequence[Value], wanted: Value) -> Value:
    """The nearest number; of words, the wanted one or the first."""
    numbers = [value for value in values if isinstance(value, float)]
    if isinstance(wanted, float) and numbers:
        return min(numbers, key=lambda value: abs(value - wanted))
    return wanted if wanted in values else values[0]


def _best(every: Sequence[Ranking], table: Table) -> Tuned:
    means = table.mean(axis=1)
    best = int(np.argmax(means))
    return Tuned(every[best], table[best], list(zip(every, means.tolist(), strict=True)))
