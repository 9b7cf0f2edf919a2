from __future__ import annotations

import pytest

from esr import models
from esr.errors import UsageError
from esr.evaluation.tuning import grid
from esr.ranking.ranking import Ranking


def test_the_default_grid_of_2si_is_the_papers() -> None:
    ranking = Ranking("2si", "document")
    assert len(grid.settings(ranking, grid.default(ranking))) == 12 * 9


def test_the_default_grid_of_3mm_leaves_out_what_exceeds_one() -> None:
    ranking = Ranking("3mm", "document")
    assert len(grid.settings(ranking, grid.default(ranking))) == 36


def test_a_parameter_that_is_set_is_not_tuned() -> None:
    assert "mu" not in grid.default(Ranking("2si", "document", {"mu": 3}))


def test_nu_is_tuned_only_where_both_contexts_are_used() -> None:
    assert "nu" in grid.default(Ranking("2si", "both"))
    assert "nu" not in grid.default(Ranking("2si", "surrounding"))


@pytest.mark.parametrize("model", models.MODELS.values(), ids=lambda m: m.name)
def test_every_value_of_a_default_grid_is_in_range(model: models.Model) -> None:
    for parameter in model.parameters:
        for value in parameter.grid:
            assert parameter.check(value) == value


def test_a_grid_is_read_from_text() -> None:
    assert grid.parse(["mu=1,2.5", "idf=sentence,document"]) == {
        "mu": [1.0, 2.5],
        "idf": ["sentence", "document"],
    }


@pytest.mark.parametrize("text", ["mu", "mu=", "mu=,", "=1"])
def test_a_malformed_grid_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        grid.settings(Ranking("dir"), grid.parse([text]))


def test_a_value_out_of_range_is_refused_even_if_others_are_in_range() -> None:
    with pytest.raises(UsageError, match="mu"):
        grid.settings(Ranking("dir"), {"mu": [1.0, 0.0]})


def test_a_grid_without_any_allowed_combination_is_refused() -> None:
    with pytest.raises(UsageError, match="no combination"):
        grid.settings(Ranking("3mm", "document"), {"lambda": [0.9], "gamma": [0.9]})
