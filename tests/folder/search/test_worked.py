"""The worked examples of the formulas, through the API. tests/cli/test_worked.py has the command line."""

from __future__ import annotations

import pytest

from esr.ranking.searcher import Searcher, open_searcher
from tests.support import worked_examples as worked
from tests.support.folder_index import load
from tests.support.reference_scores import CONTEXTS, Reference, Text

RUNS = [*worked.runs(), *worked.adjusted(), *worked.dependence()]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    where = tmp_path_factory.mktemp("worked") / "index"
    load(where, worked.documents())
    return open_searcher(str(where))


def test_there_are_1344_worked_scores() -> None:
    assert sum(len(scores) for run in worked.runs() for scores in run.scores.values()) == 1344


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_every_worked_score_is_met(searcher: Searcher, run: worked.Run) -> None:
    for query_id, query in worked.queries().items():
        answer = searcher.search(query, 100, **run.ranking)
        scores = {hit.sentence_id: hit.score for hit in answer.hits}
        assert scores == pytest.approx(run.scores[query_id], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("run", worked.runs(), ids=lambda run: run.name)
def test_the_independent_scorer_meets_every_worked_score(run: worked.Run) -> None:
    documents = [located.document for located in worked.documents()]
    reference = Reference([Text([s.text.split() for s in document.sentences]) for document in documents])
    ids = [sentence.id for document in documents for sentence in document.sentences]
    for query_id, query in worked.queries().items():
        hits = reference.rank(query.split(), **run.ranking)
        assert {ids[n]: score for n, score in hits} == pytest.approx(run.scores[query_id], rel=1e-9)


def test_features_parses_and_given_ids_come_back(searcher: Searcher) -> None:
    for located in worked.documents():
        assert searcher.index.document(located.document.id) == located.document


def test_every_model_with_a_context_has_worked_scores_in_each() -> None:
    worked_with = {(run.ranking["model"], run.ranking.get("context")) for run in worked.runs()}
    for model, contexts in CONTEXTS.items():
        for context in {*contexts, None} - {"both"}:
            assert (model, context) in worked_with or model == "kld" or (contexts and context is None)
