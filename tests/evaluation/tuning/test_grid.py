from __future__ import annotations

import pytest

from esr import models
from esr.errors import UsageError
from esr.evaluation.tuning import grid
from esr.ranking.ranking import Ranking


def test_the_default_grid_of_2si_is_that_of_the_paper() -> None:
    ranking = Ranking("2si", "document")
    assert len(grid.expand(ranking, grid.default(ranking))) == 12 * 9


def test_the_default_grid_of_3mm_omits_shares_above_1() -> None:
    ranking = Ranking("3mm", "document")
    assert len(grid.expand(ranking, grid.default(ranking))) == 36


def test_a_parameter_that_is_set_is_not_tuned() -> None:
    assert "mu" not in grid.default(Ranking("2si", "document", {"mu": 3}))


def test_nu_is_tuned_only_with_both_contexts() -> None:
    assert "nu" in grid.default(Ranking("2si", "both"))
    assert "nu" not in grid.default(Ranking("2si", "surrounding"))


@pytest.mark.parametrize("model", models.MODELS.values(), ids=lambda m: m.name)
def test_every_value_of_a_default_grid_is_in_range(model: models.Model) -> None:
    for parameter in model.parameters:
        for value in parameter.grid:
            assert parameter.check(value) == value


def test_a_grid_is_parsed_from_text() -> None:
    assert grid.parse(["mu=1,2.5", "idf=sentence,document"]) == {
        "mu": [1.0, 2.5],
        "idf": ["sentence", "document"],
    }


@pytest.mark.parametrize("text", ["mu", "mu=", "mu=,", "=1"])
def test_a_malformed_grid_is_rejected(text: str) -> None:
    with pytest.raises(UsageError):
        grid.expand(Ranking("dir"), grid.parse([text]))


def test_a_value_out_of_range_is_rejected_even_if_others_are_in_range() -> None:
    with pytest.raises(UsageError, match="mu"):
        grid.expand(Ranking("dir"), {"mu": [1.0, 0.0]})


def test_a_grid_without_a_valid_combination_is_rejected() -> None:
    with pytest.raises(UsageError, match="no valid combination"):
        grid.expand(Ranking("3mm", "document"), {"lambda": [0.9], "gamma": [0.9]})
