from __future__ import annotations

import numpy as np
import pytest

from esr.errors import UsageError
from esr.evaluation.tuning.figures import Task, Tuner
from esr.evaluation.tuning.folds import folds
from esr.evaluation.tuning.search import ascent, full
from esr.evaluation.tuning.training import check_apart, cross_validate
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.evaluation.tuning.conftest import tasks

GRID = {"mu": [1.0, 10.0, 100.0], "lambda": [0.1, 0.5, 0.9]}
START = Ranking("2si", "document")


def test_the_full_grid_finds_the_best_of_all(searcher: Searcher) -> None:
    found = full(Tuner(searcher, tasks()), START, GRID)
    assert len(found.tried) == 9
    assert found.figures.mean() == max(figure for _, figure in found.tried)


def test_an_ascent_ends_where_no_single_step_is_better(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    found = ascent(tuner, START, GRID)
    for name, values in GRID.items():
        for value in values:
            step = Ranking("2si", "document", {**found.ranking.params, name: value})
            assert tuner.table([step]).mean() <= found.figures.mean()


def test_an_ascent_takes_values_of_the_grid_only(searcher: Searcher) -> None:
    grid = {"mu": [900.0, 1000.0], "lambda": [0.9], "nu": [0.1]}
    found = ascent(Tuner(searcher, tasks()), Ranking("2si", "both"), grid)
    assert all(setting.params[name] in values for setting, _ in found.tried for name, values in grid.items())


def test_figures_that_are_known_are_not_computed_again(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    table = full(tuner, START, GRID)
    tuner._pools = None  # type: ignore[assignment]  # nothing can be gathered any more
    assert full(tuner, START, GRID).tried == table.tried
    assert np.array_equal(tuner.part([3, 5]).table([table.ranking])[0], table.figures[[3, 5]])


def test_tuning_without_room_for_pools_gives_the_same(searcher: Searcher) -> None:
    kept, gathered = Tuner(searcher, tasks()), Tuner(searcher, tasks(), memory=0)
    assert full(kept, START, GRID).tried == full(gathered, START, GRID).tried


def test_every_topic_is_left_out_once() -> None:
    parts = folds(tasks(), 4, {})
    assert sorted(place for part in parts for place in part) == list(range(12))
    assert parts == folds(tasks(), 4, {})


def test_a_group_is_never_cut() -> None:
    groups = {task.topic: str(n % 5) for n, task in enumerate(tasks())}
    for part in folds(tasks(), 3, groups):
        inside = {groups[tasks()[place].topic] for place in part}
        outside = {groups[t.topic] for n, t in enumerate(tasks()) if n not in part}
        assert not inside & outside


def test_more_folds_than_groups_are_refused() -> None:
    with pytest.raises(UsageError, match="13 folds"):
        folds(tasks(), 13, {})


def test_a_fold_is_tested_with_the_setting_that_the_others_chose(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    found = cross_validate(tuner, START, GRID, "grid", 3, {})
    for part, setting in zip(folds(tasks(), 3, {}), found.settings, strict=True):
        rest = [n for n in range(12) if n not in part]
        assert setting == full(tuner.part(rest), START, GRID).ranking
        assert np.array_equal(found.figures[part], tuner.part(part).table([setting])[0])


def test_topics_in_both_training_and_test_are_refused() -> None:
    with pytest.raises(UsageError, match="both training and test"):
        check_apart(tasks(), [Task("t3", "another query", ("a",))])
    with pytest.raises(UsageError, match="both training and test"):
        check_apart(tasks(), [Task("z", tasks()[0].query.upper(), ("a",))])
    check_apart(tasks(), [Task("z", "another query", ("a",))])
