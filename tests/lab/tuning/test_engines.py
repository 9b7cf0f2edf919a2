"""Tuning and estimation give identical numbers on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from esr.lab.estimation import compute_likelihoods, generate_tasks
from esr.lab.grid import cross_validate, search_grid
from esr.lab.tuner import Tuner
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from tests.lab.tuning.conftest import documents, tasks
from tests.support.elasticsearch import fresh, load

pytestmark = pytest.mark.elasticsearch
GRID = {"mu": [1.0, 10.0, 100.0], "lambda": [0.1, 0.5], "nu": [0.0, 0.4]}
START = Ranking("2si", "both")


@pytest.fixture(scope="module")
def both(elasticsearch_url: str, index_path: Path) -> Iterator[list[Searcher]]:
    with fresh(elasticsearch_url) as index:
        load(index, documents(), analyzer="plain", shards=3)
        with open_searcher(str(index_path)) as embedded, open_searcher(index) as elasticsearch:
            yield [embedded, elasticsearch]


def test_tuning_gives_the_same_figures_on_both_engines(both: list[Searcher]) -> None:
    first, second = (search_grid(Tuner(searcher, tasks()), START, GRID) for searcher in both)
    assert first.tried == second.tried
    assert np.array_equal(first.figures, second.figures)


def test_folds_select_the_same_settings_on_both_engines(both: list[Searcher]) -> None:
    first, second = (
        cross_validate(Tuner(searcher, tasks()), START, GRID, "ascent", 3, {}) for searcher in both
    )
    assert first.settings == second.settings
    assert np.array_equal(first.figures, second.figures)


def test_pseudo_topics_are_the_same_on_both_engines(both: list[Searcher]) -> None:
    first, second = (generate_tasks(searcher.index, 40, seed=2) for searcher in both)
    assert first == second


def test_the_likelihood_is_the_same_on_both_engines(both: list[Searcher]) -> None:
    settings = [Ranking("2si", "both", {"mu": mu}) for mu in (3.0, 30.0)]
    first, second = (compute_likelihoods(searcher.index, settings, 30) for searcher in both)
    assert np.array_equal(first, second)
