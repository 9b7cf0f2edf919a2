from __future__ import annotations

import pytest

from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.answers import explanation as explaining
from webui.answers.explanation import WIDTH, Told, tell
from webui.arguments.search_request import Search
from webui.running.settings import Settings

QUERY = "earthquakes relief China"
SENTENCE = "earthquake-relief.s0"
RANKINGS = [
    {},
    {"model": "bm25"},
    {"model": "tdsr"},
    {"model": "mrf_sdm", "params": {"lambda_SR": 0.5}},
    {"priors": {"length": 1.0}, "features": [{"feature": "subj", "form": "linear", "w": -1.0}]},
    {"rerank": [{"signal": "tdsr", "w": 3.0}]},
    {"boosts": {"variants": 0.3}},
]


def told_of(searcher: Searcher, ranking: Ranking) -> Told:
    return tell(searcher, Search(QUERY, ranking), SENTENCE, Settings())


@pytest.mark.parametrize("data", RANKINGS)
def test_the_rows_add_up_to_the_score_and_stay_within_the_drawing(searcher: Searcher, data: dict) -> None:  # type: ignore[type-arg]
    told = told_of(searcher, Ranking.from_dict(data))
    assert sum(row.adds for row in told.bars.rows) == pytest.approx(told.found.score, abs=1e-6)
    for row in told.bars.rows:
        for piece in row.pieces:
            assert piece.x >= -1e-6 and piece.x + piece.width <= WIDTH + 1e-6
            assert (piece.x >= told.bars.zero - 1e-6) == (piece.adds > 0)


def test_a_boost_that_looks_at_a_feature_has_a_row_of_its_own(searcher: Searcher) -> None:
    ranking = Ranking.from_dict({"boosts": {"answer_type": 2.0}})
    told = tell(searcher, Search("where was the earthquake", ranking), SENTENCE, Settings())
    assert [(row.label, row.adds) for row in told.bars.rows if row.kind == "boost"] == [
        ("answer_type loc", 2.0)
    ]
    assert sum(row.adds for row in told.bars.rows) == pytest.approx(told.found.score, abs=1e-6)


def test_rows_are_named_by_the_words_as_they_were_typed(searcher: Searcher) -> None:
    told = told_of(searcher, Ranking())
    assert [told.words[row.label] for row in told.bars.rows if row.kind == "term"] == QUERY.split()


def test_the_ways_between_the_words_that_scored_are_drawn(searcher: Searcher) -> None:
    plain = told_of(searcher, Ranking())
    assert plain.tree is not None and len(plain.tree.marked) == 2
    assert plain.picture is not None and plain.picture.count('fill="#a3262e"') == 2
    second = told_of(searcher, Ranking.from_dict({"rerank": [{"signal": "mrf_sdm"}]}))
    assert second.found.second is not None
    assert second.picture is not None
    assert second.picture.count('fill="#a3262e"') == len(second.found.second.chosen)


def test_words_of_a_tree_are_escaped(searcher: Searcher) -> None:
    told = tell(searcher, Search("pilot"), "hostile.s0", Settings())
    assert told.picture is not None
    assert "<img" not in told.picture and "<script" not in told.picture


def test_the_twin_has_the_tree(searcher: Searcher) -> None:
    data = told_of(searcher, Ranking()).as_dict()
    assert data["text"].startswith("A strong earthquake")
    assert data["tree"]["apart"][0]["distance"] > 0


def test_a_set_of_words_that_scored_is_told_in_a_few_words(searcher: Searcher) -> None:
    told = told_of(searcher, Ranking.from_dict({"model": "tdsr"}))
    assert told.found.second is not None
    sets = told_of(searcher, Ranking.from_dict({"model": "mrf_fdm"})).found.second
    assert sets is not None
    relations = [explaining.relation(each) for each in sets.signals[0].sets]
    assert (
        relations and relations[0].startswith("proximity: earthquak + china, ") and " apart, " in relations[0]
    )
    (part,) = told.found.second.signals[0].sets
    assert explaining.relation(part) == "earthquak, alone"
