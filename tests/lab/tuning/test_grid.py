from __future__ import annotations

import numpy as np
import pytest

from esr import models
from esr.errors import UsageError
from esr.lab import grid
from esr.lab.grid import ascend, check_disjoint, cross_validate, search_grid, split_folds
from esr.lab.tuner import Task, Tuner
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.lab.tuning.conftest import tasks


def test_the_default_grid_of_2si_is_that_of_the_paper() -> None:
    ranking = Ranking("2si", "document")
    assert len(grid.expand_grid(ranking, grid.build_default_grid(ranking))) == 12 * 9


def test_the_default_grid_of_3mm_omits_shares_above_1() -> None:
    ranking = Ranking("3mm", "document")
    assert len(grid.expand_grid(ranking, grid.build_default_grid(ranking))) == 36


def test_a_parameter_that_is_set_is_not_tuned() -> None:
    assert "mu" not in grid.build_default_grid(Ranking("2si", "document", {"mu": 3}))


def test_nu_is_tuned_only_with_both_contexts() -> None:
    assert "nu" in grid.build_default_grid(Ranking("2si", "both"))
    assert "nu" not in grid.build_default_grid(Ranking("2si", "surrounding"))


@pytest.mark.parametrize("model", models.MODELS.values(), ids=lambda m: m.name)
def test_every_value_of_a_default_grid_is_in_range(model: models.Model) -> None:
    for parameter in model.parameters:
        for value in parameter.grid:
            assert parameter.check(value) == value


def test_a_grid_is_parsed_from_text() -> None:
    assert grid.parse_grid(["mu=1,2.5", "idf=sentence,document"]) == {
        "mu": [1.0, 2.5],
        "idf": ["sentence", "document"],
    }


@pytest.mark.parametrize("text", ["mu", "mu=", "mu=,", "=1"])
def test_a_malformed_grid_is_rejected(text: str) -> None:
    with pytest.raises(UsageError):
        grid.expand_grid(Ranking("dir"), grid.parse_grid([text]))


def test_a_value_out_of_range_is_rejected_even_if_others_are_in_range() -> None:
    with pytest.raises(UsageError, match="mu"):
        grid.expand_grid(Ranking("dir"), {"mu": [1.0, 0.0]})


def test_a_grid_without_a_valid_combination_is_rejected() -> None:
    with pytest.raises(UsageError, match="no valid combination"):
        grid.expand_grid(Ranking("3mm", "document"), {"lambda": [0.9], "gamma": [0.9]})


GRID = {"mu": [1.0, 10.0, 100.0], "lambda": [0.1, 0.5, 0.9]}
START = Ranking("2si", "document")


def test_the_full_grid_finds_the_best_of_all(searcher: Searcher) -> None:
    result = search_grid(Tuner(searcher, tasks()), START, GRID)
    assert len(result.tried) == 9
    assert result.figures.mean() == max(figure for _, figure in result.tried)


def test_an_ascent_ends_where_no_single_step_improves(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    result = ascend(tuner, START, GRID)
    for name, values in GRID.items():
        for value in values:
            step = Ranking("2si", "document", {**result.ranking.params, name: value})
            assert tuner.compute_figures([step]).mean() <= result.figures.mean()


def test_an_ascent_tries_only_values_of_the_grid(searcher: Searcher) -> None:
    grid = {"mu": [900.0, 1000.0], "lambda": [0.9], "nu": [0.1]}
    result = ascend(Tuner(searcher, tasks()), Ranking("2si", "both"), grid)
    assert all(setting.params[name] in values for setting, _ in result.tried for name, values in grid.items())


def test_computed_figures_are_cached(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    result = search_grid(tuner, START, GRID)
    tuner.cache.get = None  # type: ignore[method-assign,assignment]  # no more candidates are retrieved
    assert search_grid(tuner, START, GRID).tried == result.tried
    assert np.array_equal(
        tuner.select_tasks([3, 5]).compute_figures([result.ranking])[0], result.figures[[3, 5]]
    )


def test_tuning_without_memory_for_candidates_gives_the_same(searcher: Searcher) -> None:
    cached, uncached = Tuner(searcher, tasks()), Tuner(searcher, tasks(), memory=0)
    assert search_grid(cached, START, GRID).tried == search_grid(uncached, START, GRID).tried


def test_every_topic_is_in_one_fold() -> None:
    folds = split_folds(tasks(), 4, {})
    assert sorted(position for fold in folds for position in fold) == list(range(12))
    assert folds == split_folds(tasks(), 4, {})


def test_a_group_is_never_split() -> None:
    groups = {task.topic: str(n % 5) for n, task in enumerate(tasks())}
    for fold in split_folds(tasks(), 3, groups):
        inside = {groups[tasks()[position].topic] for position in fold}
        outside = {groups[t.topic] for n, t in enumerate(tasks()) if n not in fold}
        assert not inside & outside


def test_more_folds_than_groups_are_rejected() -> None:
    with pytest.raises(UsageError, match="the number of folds must be from 2 to 12"):
        split_folds(tasks(), 13, {})


def test_a_fold_is_tested_with_the_best_setting_of_the_others(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    validation = cross_validate(tuner, START, GRID, "grid", 3, {})
    for fold, setting in zip(split_folds(tasks(), 3, {}), validation.settings, strict=True):
        rest = [n for n in range(12) if n not in fold]
        assert setting == search_grid(tuner.select_tasks(rest), START, GRID).ranking
        assert np.array_equal(
            validation.figures[fold], tuner.select_tasks(fold).compute_figures([setting])[0]
        )


def test_topics_in_both_training_and_test_are_rejected() -> None:
    with pytest.raises(UsageError, match="both training and test"):
        check_disjoint(tasks(), [Task("t3", "another query", ("a",))])
    with pytest.raises(UsageError, match="both training and test"):
        check_disjoint(tasks(), [Task("z", tasks()[0].query.upper(), ("a",))])
    check_disjoint(tasks(), [Task("z", "another query", ("a",))])
