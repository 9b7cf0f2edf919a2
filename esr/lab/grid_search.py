"""Finds the best settings of a grid: all combinations, or one parameter after another (coordinate ascent)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from esr.lab.grid import Grid, expand_grid, find_tunable_parts, is_valid, read_parameters, set_parameters
from esr.lab.tuner import Figures, Tuner
from esr.plugin.provisional import Ranking, Value

Tick = Callable[[int], None]


class TuningResult(NamedTuple):
    """The best setting, its figures of shape (topics,), and all tried settings with their mean figures."""

    ranking: Ranking
    figures: Figures
    tried: list[tuple[Ranking, float]]


def search_grid(tuner: Tuner, ranking: Ranking, grid: Grid, tick: Tick = lambda n: None) -> TuningResult:
    """The best of all combinations of the grid, the first of several equal ones."""
    settings = expand_grid(ranking, grid)
    return _select_best(settings, tuner.compute_figures(settings, tick))


def ascend(tuner: Tuner, ranking: Ranking, grid: Grid, tick: Tick = lambda n: None) -> TuningResult:
    """Coordinate ascent: improve one parameter at a time, until none improves the mean figure.

    No single step of the grid improves the result, but it is not always the global optimum.
    """
    current = ranking
    current_values = read_parameters(current)
    on_grid = all(current_values.get(name) in values for name, values in grid.items())
    if not is_valid(current) or not on_grid:
        current = _choose_start(ranking, grid)
    figures = tuner.compute_figures([current], tick)[0]
    tried = [(current, float(figures.mean()))]
    improved = True
    while improved:
        improved = False
        for name, values in grid.items():
            steps = [set_parameters(current, {name: value}) for value in values]
            valid = [step for step in steps if is_valid(step)]
            best = _select_best(valid, tuner.compute_figures(valid, tick))
            tried += best.tried
            if best.figures.mean() > figures.mean():
                current, figures, improved = best.ranking, best.figures, True
    return TuningResult(current, figures, tried)


def _choose_start(ranking: Ranking, grid: Grid) -> Ranking:
    """The ranking with the values of the grid that are nearest to the defaults."""
    defaults = dict(ranking.settings().values)
    for part in find_tunable_parts(ranking):
        defaults |= {f"{part.name}.{p.name}": part.values.get(p.name, p.default) for p in part.parameters}
    nearest = {name: _find_nearest(values, defaults[name]) for name, values in grid.items()}
    start = set_parameters(ranking, nearest)
    return start if is_valid(start) else expand_grid(ranking, grid)[0]


def _find_nearest(values: Sequence[Value], target: Value) -> Value:
    """The value nearest to a number. For names it is the target if available, else the first value."""
    numbers = [value for value in values if isinstance(value, float)]
    if isinstance(target, float) and numbers:
        return min(numbers, key=lambda value: abs(value - target))
    return target if target in values else values[0]


def _select_best(settings: Sequence[Ranking], figures: Figures) -> TuningResult:
    means = figures.mean(axis=1)
    best = int(np.argmax(means))
    return TuningResult(settings[best], figures[best], list(zip(settings, means.tolist(), strict=True)))
