"""Where a ranking's parameters come from when it is compared: its defaults, judgements, or the collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning import pseudo
from esr.evaluation.tuning.figures import Task, Tuner
from esr.evaluation.tuning.training import cross_validate, train
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

FOLDS = 5
_FEW = 120
"""A larger grid is climbed, one parameter after another."""


class Chosen(NamedTuple):
    """The ranking for each task, and the distinct ones of them."""

    of_tasks: list[Ranking]
    settings: list[Ranking]


def default(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> Chosen:
    """The ranking as it is."""
    return Chosen([ranking] * len(tasks), [ranking])


def tuned(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> Chosen:
    """Each task's parameters are the best, by AP, on the other folds' tasks."""
    grid = grids.default(ranking)
    if not grid:
        return default(searcher, ranking, tasks)
    found = cross_validate(Tuner(searcher, tasks), ranking, grid, _way(grid), FOLDS, {})
    return Chosen(found.of_topics, found.settings)


def estimated(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> Chosen:
    """The parameters that are best on pseudo-topics. The tasks themselves are not looked at."""
    grid = grids.default(ranking)
    if not grid:
        return default(searcher, ranking, tasks)
    made = pseudo.tasks(searcher.index, pseudo.ENOUGH)
    return default(searcher, train(Tuner(searcher, made), ranking, grid, _way(grid)).ranking, tasks)


def _way(grid: grids.Grid) -> str:
    return "grid" if prod(map(len, grid.values())) <= _FEW else "ascent"


SOURCES: dict[str, Callable[[Searcher, Ranking, Sequence[Task]], Chosen]] = {
    "default": default,
    "tuned": tuned,
    "estimated": estimated,
}
