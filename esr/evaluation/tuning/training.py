"""Training and cross-validation, in which no figure is for a training topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from esr.errors import UsageError
from esr.evaluation.tuning.curves import CurveTraining, train_curves
from esr.evaluation.tuning.folds import split_folds
from esr.evaluation.tuning.grid import Grid
from esr.evaluation.tuning.grid_search import Tick, TuningResult, ascend, search_grid
from esr.evaluation.tuning.tuner import Figures, Task, Tuner
from esr.ranking.ranking import Ranking

WAYS = {"grid": search_grid, "ascent": ascend}


class CrossValidation(NamedTuple):
    """Each fold's setting, and each topic's setting and figure, trained on the folds without the topic."""

    settings: list[Ranking]
    by_topic: list[Ranking]
    figures: Figures


def train(
    tuner: Tuner,
    ranking: Ranking,
    grid: Grid,
    way: str,
    tick: Tick = lambda n: None,
    curves: Sequence[CurveTraining] = (),
) -> TuningResult:
    """The best setting on all of the tuner's topics, with curves that are then trained on the same topics."""
    best = WAYS[way](tuner, ranking, grid, tick)
    if not curves:
        return best
    with_curves = train_curves(tuner.searcher, tuner.tasks, best.ranking, curves)
    return TuningResult(with_curves, tuner.compute_figures([with_curves], tick)[0], best.tried)


def cross_validate(
    tuner: Tuner,
    ranking: Ranking,
    grid: Grid,
    way: str,
    number: int,
    groups: Mapping[str, str],
    tick: Tick = lambda n: None,
    curves: Sequence[CurveTraining] = (),
) -> CrossValidation:
    """For each fold, train on the others and test on it. Figures have the shape (topics,)."""
    figures = np.zeros(len(tuner.tasks))
    by_topic = [ranking] * len(tuner.tasks)
    settings = []
    for fold in split_folds(tuner.tasks, number, groups):
        others = sorted(set(range(len(tuner.tasks))) - set(fold))
        best = train(tuner.select_tasks(others), ranking, grid, way, tick, curves).ranking
        settings.append(best)
        figures[fold] = tuner.select_tasks(fold).compute_figures([best])[0]
        for position in fold:
            by_topic[position] = best
    return CrossValidation(settings, by_topic, figures)


def check_disjoint(training: Sequence[Task], test: Sequence[Task]) -> None:
    """Raise UsageError if a topic or its exact query is in both."""
    ids = {task.topic for task in training} & {task.topic for task in test}
    queries = {task.query.lower() for task in training} & {task.query.lower() for task in test}
    if ids or queries:
        examples = ", ".join(sorted(ids or queries)[:3])
        raise UsageError(
            f"{len(ids or queries)} topics are in both training and test ({examples}, …), so the test is not "
            "valid: use other topics or --folds, or allow it by --test-on-training"
        )
