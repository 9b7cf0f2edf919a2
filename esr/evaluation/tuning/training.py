"""Training and testing apart: no figure is given for topics that were trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from esr.errors import UsageError
from esr.evaluation.tuning.curves import Training, fit
from esr.evaluation.tuning.figures import Table, Task, Tuner
from esr.evaluation.tuning.folds import folds
from esr.evaluation.tuning.grid import Grid
from esr.evaluation.tuning.search import Tick, Tuned, ascent, full
from esr.ranking.ranking import Ranking

WAYS = {"grid": full, "ascent": ascent}


class Validated(NamedTuple):
    """Cross-validation: each fold's setting; every topic's setting and figure, by the folds without it."""

    settings: list[Ranking]
    of_topics: list[Ranking]
    figures: Table


def train(
    tuner: Tuner,
    ranking: Ranking,
    grid: Grid,
    way: str,
    tick: Tick = lambda n: None,
    curves: Sequence[Training] = (),
) -> Tuned:
    """The best setting on all of the tuner's topics, then the curves, trained on the same topics."""
    found = WAYS[way](tuner, ranking, grid, tick)
    if not curves:
        return found
    fitted = fit(tuner.searcher, tuner.tasks, found.ranking, curves)
    return Tuned(fitted, tuner.table([fitted], tick)[0], found.tried)


def cross_validate(
    tuner: Tuner,
    ranking: Ranking,
    grid: Grid,
    way: str,
    number: int,
    groups: Mapping[str, str],
    tick: Tick = lambda n: None,
    curves: Sequence[Training] = (),
) -> Validated:
    """Train on all folds but one, test on that one, for each. Figures have the shape (topics,)."""
    figures = np.zeros(len(tuner.tasks))
    of_topics = [ranking] * len(tuner.tasks)
    chosen = []
    for part in folds(tuner.tasks, number, groups):
        rest = sorted(set(range(len(tuner.tasks))) - set(part))
        found = train(tuner.part(rest), ranking, grid, way, tick, curves)
        chosen.append(found.ranking)
        figures[part] = tuner.part(part).table([found.ranking])[0]
        for place in part:
            of_topics[place] = found.ranking
    return Validated(chosen, of_topics, figures)


def check_apart(trained: Sequence[Task], tested: Sequence[Task]) -> None:
    """Raises UsageError if a topic or its very query is in both."""
    ids = {task.topic for task in trained} & {task.topic for task in tested}
    queries = {task.query.lower() for task in trained} & {task.query.lower() for task in tested}
    if ids or queries:
        some = ", ".join(sorted(ids or queries)[:3])
        raise UsageError(
            f"{len(ids or queries)} topics are in both training and test ({some}, …): a figure on them "
            "says nothing; take other topics, use --folds, or insist with --test-on-training"
        )
