"""What was learned on one engine ranks alike on both."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import esr
from esr.evaluation.tuning.figures import Task
from esr.learning import lambdamart, linear
from esr.learning import signals as known_signals
from esr.learning.gather import gather
from esr.learning.learner import Learned
from esr.learning.table import Table
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.ranking.test_reranker import QUERIES, WORDS, documents
from tests.support.elasticsearch import close, fresh, load

pytest.importorskip("lightgbm")


def learned(searcher: Searcher, learner: str, monkeypatch: pytest.MonkeyPatch) -> Learned:
    """From all signals; relevant are the sentences with a query's first two words side by side."""
    monkeypatch.setattr(lambdamart, "ROUNDS", 10)
    monkeypatch.setattr(lambdamart, "SETTINGS", {**lambdamart.SETTINGS, "min_data_in_leaf": 5})
    monkeypatch.setattr(linear, "CERTAIN", 0.2)
    pairs = [(a, b) for a in WORDS for b in WORDS if a != b]
    qrels = {
        f"{a}-{b}": {s.id: 1 for d in documents() for s in d.sentences if f"{a} {b}" in s.text}
        for a, b in pairs
    }
    tasks = [Task(f"{a}-{b}", f"{a} {b}", tuple(qrels[f"{a}-{b}"])) for a, b in pairs if qrels[f"{a}-{b}"]]
    every = known_signals.known(searcher.index, Ranking())
    table = Table(gather(searcher, tasks, qrels, Ranking(), every), "AP")
    return (linear if learner == "linear" else lambdamart).fit(table, every)


@pytest.mark.elasticsearch
@pytest.mark.parametrize("learner", ["linear", "lambdamart"])
def test_both_engines_give_one_order(
    elasticsearch_url: str, tmp_path: Path, learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "index")
    load(place, documents(), analyzer="plain")
    with fresh(elasticsearch_url) as where:
        load(where, documents(), analyzer="plain", shards=2)
        with esr.open(place) as embedded, esr.open(where) as elasticsearch:
            ranking = learned(embedded, learner, monkeypatch).ranking(Ranking(), 1000)
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
