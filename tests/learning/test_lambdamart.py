from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from esr.errors import UsageError
from esr.learning import lambdamart
from esr.learning.table import Table
from esr.ranking.ranking import Ranking
from esr.ranking.tree_ensemble import TreeEnsemble
from tests.learning.making import SIGNALS, topics

lightgbm = pytest.importorskip("lightgbm")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lambdamart, "ROUNDS", 20)
    monkeypatch.setattr(lambdamart, "SETTINGS", {**lambdamart.SETTINGS, "min_data_in_leaf": 20})


def test_trees_learn_what_helps_on_topics_they_have_not_seen() -> None:
    found = lambdamart.fit(Table(topics(150), "AP"), SIGNALS)
    table = Table(topics(100, seed=1), "AP")
    assert table.figures(found.scores(table)).mean() > table.figures(table.first).mean() + 0.05
    assert found.importance[0] > found.importance[1]


def test_the_same_seed_grows_the_same_trees() -> None:
    table = Table(topics(60), "AP")
    first, second = (lambdamart.fit(table, SIGNALS, 5).trees.as_dict() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("missing", [False, True])
def test_trees_as_numbers_say_what_lightgbm_says(missing: bool) -> None:
    chance = np.random.default_rng(0)
    table = chance.normal(size=(800, 2))
    if missing:
        table[::3, 1] = np.nan
    target = np.where(np.isnan(table[:, 1]), 1.0, table[:, 1]) * (table[:, 0] > 0.3)
    settings = {"verbose": -1, "num_leaves": 6, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(table, target), 15)
    made = tuple(lambdamart.tree(each["tree_structure"]) for each in booster.dump_model()["tree_info"])
    probe = chance.normal(size=(300, 2))
    probe[::5, 0], probe[::7, 1] = np.nan, np.nan
    probe[0] = [made[0].threshold[0]] * 2  # a number that is the threshold itself
    assert TreeEnsemble(SIGNALS, made).predict(probe) == pytest.approx(booster.predict(probe), abs=1e-12)


def test_a_tree_that_is_one_leaf_adds_it() -> None:
    made = lambdamart.tree({"leaf_value": 0.25})
    assert made.predict(np.zeros((3, 1))).tolist() == [0.25] * 3


def test_a_saved_ranking_has_the_same_trees() -> None:
    found = lambdamart.fit(Table(topics(60), "AP"), SIGNALS)
    ranking = found.ranking(Ranking(), 30)
    again = Ranking.from_dict(json.loads(json.dumps(ranking.as_dict())))
    assert again.trees is not None
    assert again.trees.as_dict() == found.trees.as_dict()
    assert again.depth == 30


def test_without_lightgbm_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(UsageError, match=r"pip install 'esr\[learn\]'"):
        lambdamart.fit(Table(topics(5), "AP"), SIGNALS)
