from __future__ import annotations

import numpy as np
import pytest

from esr.learning import linear
from esr.learning.linear import Linear
from esr.learning.table import Table
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from tests.learning.making import SIGNALS, topics


def test_a_signal_that_helps_gets_a_weight_and_noise_gets_none() -> None:
    table = Table(topics(120), "AP")
    found = linear.fit(table, SIGNALS)
    assert found.weights[0] > 0.1
    assert found.weights[1] == 0.0
    assert table.figures(found.scores(table)).mean() > table.figures(table.first).mean() + 0.05
    assert found.importance[0] > found.importance[1] == 0.0


def test_the_weights_do_not_depend_on_the_signals_scale() -> None:
    some = topics(60)
    larger = topics(60)
    for each in larger:
        each.values[:, 0] *= 1000.0
    ours, theirs = (linear.fit(Table(each, "AP"), SIGNALS) for each in (some, larger))
    assert theirs.weights * [1000.0, 1.0] == pytest.approx(ours.weights)


def test_the_same_seed_finds_the_same_weights() -> None:
    table = Table(topics(60), "nDCG@10")
    assert linear.fit(table, SIGNALS, 3).weights.tolist() == linear.fit(table, SIGNALS, 3).weights.tolist()


def test_a_signal_that_never_differs_or_has_no_value_is_not_used() -> None:
    some = topics(30)
    for each in some:
        each.values[:, 0], each.values[:, 1] = 7.0, np.nan
    table = Table(some, "AP")
    found = linear.fit(table, SIGNALS)
    assert found.weights.tolist() == [0.0, 0.0]
    assert found.scores(table).tolist() == table.first.tolist()


def test_features_and_priors_go_to_the_first_stage_and_the_rest_to_the_second() -> None:
    names = ("dir", "feature len", "feature subj", "prior importance", "tdsr", "2si document")
    weights = np.array([0.5, -0.1, 0.2, 0.3, 0.0, 0.4])
    found = Linear(tuple(map(RankingSignal, names)), weights, np.abs(weights))
    made = found.ranking(Ranking(), 50)
    assert [(each.feature, each.form, each.params["w"]) for each in made.features] == [
        ("len", "log", -0.1),
        ("subj", "linear", 0.2),
    ]
    assert made.priors == {"importance": 0.3}
    assert [(each.signal, each.weight) for each in made.rerank] == [("dir", 0.5), ("2si document", 0.4)]
    assert made.depth == 50
    assert Ranking.from_dict(made.as_dict()).as_dict() == made.as_dict()
