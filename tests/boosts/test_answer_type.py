from __future__ import annotations

from pathlib import Path

import pytest

import esr
from esr.boosts.answer_type import answer_feature
from esr.errors import UsageError
from esr.plans.plan import Static
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.folder_index import document, load

RANKING = Ranking(boosts={"answer_type": 0.3})


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("Who wrote of the pump?", "pers"),
        ("who wrote of the pump", "pers"),
        ("To whom was it sold?", "pers"),
        ("Where's the court", "loc"),
        ("When did the war end?", "numbers"),
        ("how many people voted", "numbers"),
        ("How  much is it?", "numbers"),
        ("In which city is the bank?", "loc"),
        ("The pump was invented in what year?", "numbers"),
        ("What company owns the bank?", "org"),
        ("How did the war end?", None),
        ("What happened when the war ended?", None),
        ("Why did the man who won go?", None),
        ("Powell, who had promised it, refused.", None),
        ("the man who sold the bank", None),
        ("When the war ended, he went home.", None),
        ("whoever wins?", None),
        ("bank fraud", None),
        ("?", None),
        ("", None),
    ],
)
def test_the_first_interrogative_decides_what_a_question_asks_for(text: str, feature: str | None) -> None:
    assert answer_feature(text) == feature


def test_it_is_a_step_on_the_feature_and_nothing_else(searcher: Searcher) -> None:
    plan = searcher.prepare("who led the migration", RANKING).plan
    plain = searcher.prepare("who led the migration", Ranking()).plan
    assert plan.statics == (Static("features.pers", "step", 0.3),)
    assert (plan.terms, plan.transform) == (plain.terms, plain.transform)


def test_sentences_with_such_a_name_gain_its_weight(searcher: Searcher) -> None:
    def scores(ranking: Ranking) -> dict[str, float]:
        return {
            hit.sentence_id: hit.score for hit in searcher.search("who migration", 9, ranking=ranking).hits
        }

    plain, boosted = scores(Ranking()), scores(RANKING)
    assert boosted["a0"] == pytest.approx(plain["a0"] + 0.3)
    assert {id for id in plain if boosted[id] != plain[id]} == {"a0"}  # a1 has none, of a2 it is not known


def test_an_index_without_such_features_is_an_error(tmp_path: Path) -> None:
    load(tmp_path / "plain", [document("a", "bank vote")])
    with esr.open(str(tmp_path / "plain")) as searcher:
        for query in ("who votes", "bank"):
            with pytest.raises(UsageError, match="no sentence has any: run esr enrich"):
                searcher.search(query, ranking=RANKING)


def test_other_queries_and_features_that_the_index_lacks_leave_the_plan_as_it_is(searcher: Searcher) -> None:
    for query in ("migration policy", "where is the bank"):  # the index has no feature loc
        boosted, plain = (searcher.prepare(query, ranking) for ranking in (RANKING, Ranking()))
        assert (boosted.plan, boosted.unseen) == (plain.plan, plain.unseen)
        assert (boosted.counts, boosted.statistics) == (plain.counts, plain.statistics)
