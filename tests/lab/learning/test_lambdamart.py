"""A ranking learned on one engine gives the same order on both."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from esr.errors import UsageError
from esr.lab import learners
from esr.lab.learners import LearnedModel, fit_lambdamart, fit_linear
from esr.lab.training_data import SignalTable, collect_signals, list_signals
from esr.lab.tuner import Task
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.signals import TreeEnsemble
from tests.lab.learning.samples import SIGNALS, topics
from tests.ranking.test_reranker import QUERIES, WORDS, documents
from tests.support.elasticsearch import close, fresh, load
from tests.support.needed import need

lightgbm = need("lightgbm")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "ROUNDS", 20)
    monkeypatch.setattr(learners, "SETTINGS", {**learners.SETTINGS, "min_data_in_leaf": 20})


@pytest.mark.usefixtures("small")
def test_trees_improve_unseen_topics() -> None:
    model = learners.fit_lambdamart(SignalTable(topics(150), "AP"), SIGNALS)
    table = SignalTable(topics(100, seed=1), "AP")
    assert (
        table.compute_figures(model.scores(table)).mean()
        > table.compute_figures(table.first_scores).mean() + 0.05
    )
    assert model.importance[0] > model.importance[1]


@pytest.mark.usefixtures("small")
def test_the_same_seed_grows_the_same_trees() -> None:
    table = SignalTable(topics(60), "AP")
    first, second = (learners.fit_lambdamart(table, SIGNALS, 5).trees.as_dict() for _ in range(2))
    assert first == second


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("missing", [False, True])
def test_converted_trees_predict_as_lightgbm_does(missing: bool) -> None:
    chance = np.random.default_rng(0)
    table = chance.normal(size=(800, 2))
    if missing:
        table[::3, 1] = np.nan
    target = np.where(np.isnan(table[:, 1]), 1.0, table[:, 1]) * (table[:, 0] > 0.3)
    settings = {"verbose": -1, "num_leaves": 6, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(table, target), 15)
    converted = tuple(
        learners.convert_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]
    )
    probe = chance.normal(size=(300, 2))
    probe[::5, 0], probe[::7, 1] = np.nan, np.nan
    probe[0] = [converted[0].threshold[0]] * 2  # equal to the threshold
    assert TreeEnsemble(SIGNALS, converted).predict(probe) == pytest.approx(booster.predict(probe), abs=1e-12)


@pytest.mark.usefixtures("small")
def test_a_tree_with_one_leaf_adds_its_value() -> None:
    converted = learners.convert_tree({"leaf_value": 0.25})
    assert converted.predict(np.zeros((3, 1))).tolist() == [0.25] * 3


@pytest.mark.usefixtures("small")
def test_a_saved_ranking_has_the_same_trees() -> None:
    model = learners.fit_lambdamart(SignalTable(topics(60), "AP"), SIGNALS)
    ranking = model.ranking(Ranking(), 30)
    loaded = Ranking.from_dict(json.loads(json.dumps(ranking.as_dict())))
    assert loaded.trees is not None
    assert loaded.trees.as_dict() == model.trees.as_dict()
    assert loaded.depth == 30


@pytest.mark.usefixtures("small")
def test_without_lightgbm_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(UsageError, match=r"pip install 'esr\[learn\]'"):
        learners.fit_lambdamart(SignalTable(topics(5), "AP"), SIGNALS)


need("lightgbm")


def train(searcher: Searcher, learner: str, monkeypatch: pytest.MonkeyPatch) -> LearnedModel:
    """Train on all signals. Sentences with the first two words of a query side by side are relevant."""
    monkeypatch.setattr(learners, "ROUNDS", 10)
    monkeypatch.setattr(learners, "SETTINGS", {**learners.SETTINGS, "min_data_in_leaf": 5})
    monkeypatch.setattr(learners, "MIN_STANDARD_ERRORS", 0.2)
    pairs = [(a, b) for a in WORDS for b in WORDS if a != b]
    qrels = {
        f"{a}-{b}": {s.id: 1 for d in documents() for s in d.sentences if f"{a} {b}" in s.text}
        for a, b in pairs
    }
    tasks = [Task(f"{a}-{b}", f"{a} {b}", tuple(qrels[f"{a}-{b}"])) for a, b in pairs if qrels[f"{a}-{b}"]]
    signals = list_signals(searcher.index, Ranking())
    table = SignalTable(collect_signals(searcher, tasks, qrels, Ranking(), signals), "AP")
    return (fit_linear if learner == "linear" else fit_lambdamart)(table, signals)


@pytest.mark.elasticsearch
@pytest.mark.parametrize("learner", ["linear", "lambdamart"])
def test_a_learned_ranking_gives_the_same_order_on_both_engines(
    elasticsearch_url: str, tmp_path: Path, learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "index")
    load(path, documents(), analyzer="plain")
    with fresh(elasticsearch_url) as index:
        load(index, documents(), analyzer="plain", shards=2)
        with open_searcher(path) as embedded, open_searcher(index) as elasticsearch:
            ranking = train(embedded, learner, monkeypatch).ranking(Ranking(), 1000)
            data = ranking.as_dict()
            assert data["trees"]["trees"] if learner == "lambdamart" else ranking.rerank
            for query in QUERIES:
                ours = embedded.search(query, 200, ranking=ranking).hits
                theirs = {h.sentence_id: h for h in elasticsearch.search(query, 200, ranking=ranking).hits}
                assert theirs.keys() == {hit.sentence_id for hit in ours}
                assert all(close(hit.score, theirs[hit.sentence_id].score) for hit in ours)
                for above, below in pairwise(ours):
                    if above.score - below.score > 1e-4:
                        assert theirs[above.sentence_id].score > theirs[below.sentence_id].score
