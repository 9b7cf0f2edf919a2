"""Sources of a ranking's parameters in a comparison: default, tuned on judgements, or estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning import pseudo_topics
from esr.evaluation.tuning.training import cross_validate, train
from esr.evaluation.tuning.tuner import Task, Tuner
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

FOLDS = 5
_MAX_GRID = 120
"""The largest grid that is searched completely; larger ones use coordinate ascent."""


class ParameterChoice(NamedTuple):
    """The ranking for each task, and the distinct rankings among them."""

    by_task: list[Ranking]
    settings: list[Ranking]


def use_default(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> ParameterChoice:
    """The ranking with its own parameters."""
    return ParameterChoice([ranking] * len(tasks), [ranking])


def tune(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> ParameterChoice:
    """For each task, the parameters with the best AP on the other folds' tasks."""
    grid = grids.default(ranking)
    if not grid:
        return use_default(searcher, ranking, tasks)
    validation = cross_validate(Tuner(searcher, tasks), ranking, grid, _choose_way(grid), FOLDS, {})
    return ParameterChoice(validation.by_topic, validation.settings)


def estimate(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> ParameterChoice:
    """The best parameters on pseudo-topics. The tasks themselves are not used."""
    grid = grids.default(ranking)
    if not grid:
        return use_default(searcher, ranking, tasks)
    pseudo_tasks = pseudo_topics.generate_tasks(searcher.index, pseudo_topics.DEFAULT_NUMBER)
    best = train(Tuner(searcher, pseudo_tasks), ranking, grid, _choose_way(grid)).ranking
    return use_default(searcher, best, tasks)


def _choose_way(grid: grids.Grid) -> str:
    return "grid" if prod(map(len, grid.values())) <= _MAX_GRID else "ascent"


SOURCES: dict[str, Callable[[Searcher, Ranking, Sequence[Task]], ParameterChoice]] = {
    "default": use_default,
    "tuned": tune,
    "estimated": estimate,
}
