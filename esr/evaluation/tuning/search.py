"""Ways through the settings: all of a grid, or one parameter after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from esr import adjustments
from esr.evaluation.tuning.figures import Table, Tuner
from esr.evaluation.tuning.grid import Grid, is_allowed, placed, settings, values_of
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
    if not is_allowed(current) or not grid.keys() <= values_of(current).keys():
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
    """The defaults of the model and of the features' forms, written out for the grid's parameters."""
    values = dict(ranking.settings().values)
    for each in ranking.features:
        values |= {
            f"{each.feature}.{p.name}": each.params.get(p.name, p.default)
            for p in adjustments.get(each.form).parameters
        }
    return placed(ranking, {name: values[name] for name in grid})


def _best(every: Sequence[Ranking], table: Table) -> Tuned:
    means = table.mean(axis=1)
    best = int(np.argmax(means))
    return Tuned(every[best], table[best], list(zip(every, means.tolist(), strict=True)))
