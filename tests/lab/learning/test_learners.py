from __future__ import annotations

import numpy as np
import pytest

from esr.lab.learners import Linear, fit_linear
from esr.lab.training_data import SignalTable
from esr.ranking.ranking import Ranking
from esr.ranking.signals import RankingSignal
from tests.lab.learning.samples import SIGNALS, topics


def test_a_helpful_signal_has_a_weight_and_noise_has_none() -> None:
    table = SignalTable(topics(120), "AP")
    model = fit_linear(table, SIGNALS)
    assert model.weights[0] > 0.1
    assert model.weights[1] == 0.0
    assert (
        table.compute_figures(model.scores(table)).mean()
        > table.compute_figures(table.first_scores).mean() + 0.05
    )
    assert model.importance[0] > model.importance[1] == 0.0


def test_the_weights_do_not_depend_on_the_scale_of_signals() -> None:
    sample = topics(60)
    larger = topics(60)
    for topic in larger:
        topic.values[:, 0] *= 1000.0
    original, scaled = (fit_linear(SignalTable(topics_, "AP"), SIGNALS) for topics_ in (sample, larger))
    assert scaled.weights * [1000.0, 1.0] == pytest.approx(original.weights)


def test_the_same_seed_gives_the_same_weights() -> None:
    table = SignalTable(topics(60), "nDCG@10")
    assert fit_linear(table, SIGNALS, 3).weights.tolist() == fit_linear(table, SIGNALS, 3).weights.tolist()


def test_a_constant_or_missing_signal_is_not_used() -> None:
    sample = topics(30)
    for topic in sample:
        topic.values[:, 0], topic.values[:, 1] = 7.0, np.nan
    table = SignalTable(sample, "AP")
    model = fit_linear(table, SIGNALS)
    assert model.weights.tolist() == [0.0, 0.0]
    assert model.scores(table).tolist() == table.first_scores.tolist()


def test_features_and_priors_go_to_the_first_stage_and_other_signals_to_the_second() -> None:
    names = ("dir", "feature len", "feature subj", "prior importance", "tdsr", "2si document")
    weights = np.array([0.5, -0.1, 0.2, 0.3, 0.0, 0.4])
    model = Linear(tuple(map(RankingSignal, names)), weights, np.abs(weights))
    ranking = model.ranking(Ranking(), 50)
    assert [(feature.feature, feature.form, feature.params["w"]) for feature in ranking.features] == [
        ("len", "log", -0.1),
        ("subj", "linear", 0.2),
    ]
    assert ranking.priors == {"importance": 0.3}
    assert [(signal.signal, signal.weight) for signal in ranking.rerank] == [
        ("dir", 0.5),
        ("2si document", 0.4),
    ]
    assert ranking.depth == 50
    assert Ranking.from_dict(ranking.as_dict()).as_dict() == ranking.as_dict()
