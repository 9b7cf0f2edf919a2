"""Cross-validation: every figure is for a topic that its setting was not trained on."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from esr.lab.curves import CurveTraining, train_curves
from esr.lab.grid import Grid
from esr.lab.grid_search import Tick, TuningResult, ascend, search_grid
from esr.lab.tuner import Figures, Task, Tuner
from esr.plugin import UsageError
from esr.plugin.provisional import Ranking, count


class HasTopic(Protocol):
    @property
    def topic(self) -> str: ...


def split_folds(
    tasks: Sequence[HasTopic], number: int, groups: Mapping[str, str], seed: int = 0
) -> list[list[int]]:
    """Split the tasks into `number` folds, as positions. Topics of a group are in the same fold.

    The split is the same for the same seed. Raises UsageError if there are fewer groups than folds.
    """
    by_group: dict[str, list[int]] = {}
    for position, task in enumerate(tasks):
        by_group.setdefault(groups.get(task.topic, task.topic), []).append(position)
    if not 2 <= number <= len(by_group):
        raise UsageError(
            f"the number of folds must be from 2 to {len(by_group)}, the number of topic groups, not {number}"
        )
    names = sorted(by_group)
    random.Random(seed).shuffle(names)
    folds: list[list[int]] = [[] for _ in range(number)]
    for name in names:
        min(folds, key=len).extend(by_group[name])
    return [sorted(fold) for fold in folds]


WAYS = {"grid": search_grid, "ascent": ascend}


class CrossValidation(NamedTuple):
    """The setting of each fold; for each topic, the setting trained without its fold, and the figure."""

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
    """The best setting on all of the tuner's topics.

    Curves are then trained on the same topics, on top of it.
    """
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
    """Train on all folds but one and test on that one, for each fold. Figures have the shape (topics,)."""
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
    """Raise UsageError if a topic, or the query of one, is in both sets."""
    ids = {task.topic for task in training} & {task.topic for task in test}
    queries = {task.query.lower() for task in training} & {task.query.lower() for task in test}
    if ids or queries:
        examples = ", ".join(sorted(ids or queries)[:3])
        raise UsageError(
            f"{count(len(ids or queries), 'topic', 'are')} in both training and test ({examples}, …), so the "
            "test is not valid: use other topics or --folds, or allow it by --test-on-training"
        )
