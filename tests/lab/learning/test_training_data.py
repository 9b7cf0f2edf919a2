from __future__ import annotations

import numpy as np
import pytest

from esr.errors import UsageError
from esr.lab import measures
from esr.lab.learn import build_run
from esr.lab.learners import Linear
from esr.lab.training_data import (
    SignalTable,
    TopicSignals,
    collect_signals,
    list_signals,
    parse_measure,
    select_signals,
)
from esr.lab.tuner import Task
from esr.ranking.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.signals import RankingSignal
from tests.lab.learning.samples import topics
from tests.ranking.test_reranker import QUERIES, documents
from tests.support.elasticsearch import load


@pytest.mark.parametrize("name", ["AP", "nDCG", "nDCG@10"])
def test_figures_equal_those_of_the_evaluator_over_the_full_run(name: str) -> None:
    sample = topics(30, below=40)
    table = SignalTable(sample, name)
    scores = table.first_scores + np.random.default_rng(1).normal(size=table.first_scores.shape)
    qrels = {topic.topic: dict(topic.judgements) for topic in sample}
    expected = measures.evaluate([name], qrels, build_run(table, scores))[name]
    assert table.compute_figures(scores).tolist() == pytest.approx(
        [expected[topic.topic] for topic in sample], abs=1e-12
    )


def test_equal_scores_keep_the_order_of_the_first_stage() -> None:
    table = SignalTable(topics(30), "AP")
    assert (
        table.compute_figures(np.zeros(table.first_scores.shape)).tolist()
        == table.compute_figures(table.first_scores).tolist()
    )


def test_topics_with_few_or_no_candidates_are_measured() -> None:
    empty = TopicSignals("a", "x", (), np.zeros(0), np.zeros((0, 1)), np.zeros(0, np.int64), {"s": 1}, {})
    few = TopicSignals(
        "b", "y", ("s", "u"), np.array([2.0, 1.0]), np.ones((2, 1)), np.array([0, 1]), {"u": 1}, {}
    )
    table = SignalTable([empty, few], "AP")
    assert table.compute_figures(table.first_scores).tolist() == [0.0, 0.5]
    assert build_run(table, table.first_scores) == {"a": {}, "b": {"s": 2.0, "u": 1.0}}


@pytest.mark.parametrize("name", ["RR", "nDCG@0", "ap", "nDCG@x", ""])
def test_other_measures_are_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="cannot learn for"):
        parse_measure(name)


TASKS = [Task(f"t{n}", query, ("d3.s0",)) for n, query in enumerate([*QUERIES, "the of"])]
GRADES = {f"d{n}.s{n % 3}": 1 + n % 2 for n in range(40)}
QRELS = {task.topic: {**GRADES, "d4.s0": 0, "nowhere": 1} for task in TASKS}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = str(tmp_path_factory.mktemp("signals") / "index")
    load(path, documents(), analyzer="plain")
    return open_searcher(path)


def test_signals_are_listed_from_the_registries_and_the_index(searcher: Searcher) -> None:
    names = [signal.signal for signal in list_signals(searcher.index, Ranking())]
    assert {"tdsr", "mrf_fdm", "dir", "2si both", "2si document", "prior length", "feature len"} <= set(names)
    assert "feature subj" not in names  # the index has none
    assert not [name for name in names if name.startswith("mrf_fidm")]
    base = Ranking.from_dict({"priors": {"length": 1.0}, "features": [{"feature": "len", "form": "log"}]})
    names = [signal.signal for signal in list_signals(searcher.index, base)]
    assert "prior length" not in names
    assert "feature len" not in names


def test_signals_are_selected_by_name_or_group(searcher: Searcher) -> None:
    signals = list_signals(searcher.index, Ranking())
    names = [signal.signal for signal in select_signals(signals, ["features", "2si document"])]
    assert names == ["2si document", "feature len", "feature position"]
    assert select_signals(signals, []) == signals
    with pytest.raises(UsageError, match="unknown signal of the index 'featurs': did you mean 'features'"):
        select_signals(signals, ["featurs"])


def test_candidates_have_the_signal_values_of_a_search(searcher: Searcher) -> None:
    signals = list_signals(searcher.index, Ranking())
    collected = collect_signals(searcher, TASKS, QRELS, Ranking(), signals, depth=12)
    for task, topic in zip(TASKS, collected, strict=True):
        hits = searcher.search(task.query, 1000).hits if task.query != "the of" else []
        assert list(topic.ids) == [hit.sentence_id for hit in hits]
        assert topic.first_scores.tolist() == [hit.score for hit in hits]
        assert topic.values.shape == (min(12, len(hits)), len(signals))
        assert topic.grades.tolist() == [GRADES.get(id, 0) for id in topic.ids[:12]]
        assert topic.judgements == {**GRADES, "nowhere": 1}
    assert {0, 1, 2} == {grade for topic in collected for grade in topic.grades.tolist()}
    for name, ranking in (("dir", Ranking("dir")), ("bm25f surrounding", Ranking("bm25f", "surrounding"))):
        column = [signal.signal for signal in signals].index(name)
        scores = [explain(searcher.prepare(QUERIES[0], ranking), id).score for id in collected[0].ids[:12]]
        assert collected[0].values[:, column].tolist() == pytest.approx(scores, abs=1e-12)


def test_a_learned_ranking_gives_the_scores_of_its_training(searcher: Searcher) -> None:
    names = ("dir", "tdsr", "feature len")
    signals = tuple(map(RankingSignal, names))
    weights = np.array([0.7, 5.0, -0.3])
    collected = collect_signals(searcher, TASKS[:4], QRELS, Ranking(), signals, depth=1000)
    table = SignalTable(collected, "AP")
    model = Linear(signals, weights, weights)
    scores = build_run(table, model.scores(table))
    for task in TASKS[:4]:
        hits = searcher.search(task.query, 1000, ranking=model.ranking(Ranking(), 1000)).hits
        search_scores = {hit.sentence_id: hit.score for hit in hits}
        assert search_scores == pytest.approx(scores[task.topic], abs=1e-9)
        assert len(hits) > 5


def test_a_base_with_a_second_stage_is_rejected(searcher: Searcher) -> None:
    for base in (Ranking("tdsr"), Ranking.from_dict({"rerank": [{"signal": "tdsr"}]})):
        with pytest.raises(UsageError, match="learning creates the second stage"):
            collect_signals(searcher, TASKS, QRELS, base, ())
