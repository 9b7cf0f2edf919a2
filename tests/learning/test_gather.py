from __future__ import annotations

import numpy as np
import pytest

import esr
from esr.errors import UsageError
from esr.evaluation.tuning.figures import Task
from esr.learning import linear
from esr.learning import signals as known_signals
from esr.learning.gather import gather
from esr.learning.table import Table
from esr.learning.validate import run
from esr.ranking.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal
from esr.ranking.searcher import Searcher
from tests.ranking.test_reranker import QUERIES, documents
from tests.support.elasticsearch import load

TASKS = [Task(f"t{n}", query, ("d3.s0",)) for n, query in enumerate([*QUERIES, "the of"])]
GRADES = {f"d{n}.s{n % 3}": 1 + n % 2 for n in range(40)}
QRELS = {task.topic: {**GRADES, "d4.s0": 0, "nowhere": 1} for task in TASKS}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    where = str(tmp_path_factory.mktemp("gather") / "index")
    load(where, documents(), analyzer="plain")
    return esr.open(where)


def test_signals_are_those_of_the_registries_and_of_the_index(searcher: Searcher) -> None:
    names = [each.signal for each in known_signals.known(searcher.index, Ranking())]
    assert {"tdsr", "mrf_fdm", "dir", "2si both", "2si document", "prior length", "feature len"} <= set(names)
    assert "feature subj" not in names  # the index has none
    assert not [name for name in names if name.startswith("mrf_fidm")]
    base = Ranking.from_dict({"priors": {"length": 1.0}, "features": [{"feature": "len", "form": "log"}]})
    names = [each.signal for each in known_signals.known(searcher.index, base)]
    assert "prior length" not in names
    assert "feature len" not in names


def test_signals_are_chosen_by_name_or_group(searcher: Searcher) -> None:
    every = known_signals.known(searcher.index, Ranking())
    names = [each.signal for each in known_signals.chosen(every, ["features", "2si document"])]
    assert names == ["2si document", "feature len", "feature position"]
    assert known_signals.chosen(every, []) == every
    with pytest.raises(UsageError, match="unknown signal of the index 'featurs': did you mean 'features'"):
        known_signals.chosen(every, ["featurs"])


def test_candidates_have_the_signals_that_a_search_would_give_them(searcher: Searcher) -> None:
    every = known_signals.known(searcher.index, Ranking())
    found = gather(searcher, TASKS, QRELS, Ranking(), every, depth=12)
    for task, each in zip(TASKS, found, strict=True):
        hits = searcher.search(task.query, 1000).hits if task.query != "the of" else []
        assert list(each.ids) == [hit.sentence_id for hit in hits]
        assert each.first.tolist() == [hit.score for hit in hits]
        assert each.values.shape == (min(12, len(hits)), len(every))
        assert each.grades.tolist() == [GRADES.get(id, 0) for id in each.ids[:12]]
        assert each.grades_of == {**GRADES, "nowhere": 1}
    assert {0, 1, 2} == {grade for each in found for grade in each.grades.tolist()}
    for name, ranking in (("dir", Ranking("dir")), ("bm25f surrounding", Ranking("bm25f", "surrounding"))):
        column = [signal.signal for signal in every].index(name)
        scores = [explain(searcher.prepare(QUERIES[0], ranking), id).score for id in found[0].ids[:12]]
        assert found[0].values[:, column].tolist() == pytest.approx(scores, abs=1e-12)


def test_a_learned_ranking_searches_as_it_was_learned(searcher: Searcher) -> None:
    names = ("dir", "tdsr", "feature len")
    signals = tuple(map(RankingSignal, names))
    weights = np.array([0.7, 5.0, -0.3])
    found = gather(searcher, TASKS[:4], QRELS, Ranking(), signals, depth=1000)
    table = Table(found, "AP")
    learned = linear.Linear(signals, weights, weights)
    scores = run(table, learned.scores(table))
    for task in TASKS[:4]:
        hits = searcher.search(task.query, 1000, ranking=learned.ranking(Ranking(), 1000)).hits
        found_scores = {hit.sentence_id: hit.score for hit in hits}
        assert found_scores == pytest.approx(scores[task.topic], abs=1e-9)
        assert len(hits) > 5


def test_a_base_with_a_second_stage_is_refused(searcher: Searcher) -> None:
    for base in (Ranking("tdsr"), Ranking.from_dict({"rerank": [{"signal": "tdsr"}]})):
        with pytest.raises(UsageError, match="learning makes the second stage"):
            gather(searcher, TASKS, QRELS, base, ())
