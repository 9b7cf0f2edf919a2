"""A ranking learned on one engine gives the same order on both."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from esr.lab import learners
from esr.lab.learners import LearnedModel, fit_lambdamart, fit_linear
from esr.lab.training_data import SignalTable, collect_signals, list_signals
from esr.lab.tuner import Task
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from tests.ranking.test_reranker import QUERIES, WORDS, documents
from tests.support.elasticsearch import close, fresh, load
from tests.support.needed import need

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
