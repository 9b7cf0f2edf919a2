"""The pictures of a score: its bars, and its tree of words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from esr.ranking.explanation.explain import explain
from esr.ranking.explanation.explanation import Explanation
from esr.ranking.ranking import FURNITURE, Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Sentence
from tests.support.folder_index import document, load
from webui.answers.explanations import ExplainedSentence, explain_sentence
from webui.arguments.request import SearchRequest
from webui.pages.rendering import describe_term_set
from webui.pages.score_pictures import SCORE_BAR_WIDTH, score_bars, tree_picture
from webui.running.settings import Settings

QUERY = "earthquake relief China"
SENTENCE = "earthquake-relief.s0"
SCORE_BARS_RANKINGS: list[dict[str, Any]] = [
    {},
    {"model": "bm25"},
    {"model": "tdsr"},
    {"model": "mrf_sdm", "params": {"lambda_SR": 0.5}},
    {"priors": {"length": 1.0}, "features": [{"feature": "subj", "form": "linear", "w": -1.0}]},
    {"rerank": [{"signal": "tdsr", "w": 3.0}]},
    {"boosts": {"variants": 0.3}},
]


def explanation_of(searcher: Searcher, query: str, data: dict[str, Any]) -> Explanation:
    return explain(searcher.prepare(query, Ranking.from_dict(data)), SENTENCE)


@pytest.mark.parametrize("data", SCORE_BARS_RANKINGS)
def test_the_rows_add_up_to_the_score_and_stay_within_the_drawing(
    searcher: Searcher, data: dict[str, Any]
) -> None:
    explanation = explanation_of(searcher, "earthquakes relief China", data)
    bars = score_bars(explanation)
    assert sum(row.adds for row in bars.rows) == pytest.approx(explanation.score, abs=1e-6)
    for row in bars.rows:
        for piece in row.pieces:
            assert piece.x >= -1e-6 and piece.x + piece.width <= SCORE_BAR_WIDTH + 1e-6
            assert (piece.x >= bars.zero - 1e-6) == (piece.adds > 0)


def test_a_boost_that_looks_at_a_feature_has_a_row_of_its_own(searcher: Searcher) -> None:
    explanation = explanation_of(searcher, "where was the earthquake", {"boosts": {"answer_type": 2.0}})
    bars = score_bars(explanation)
    assert [(row.label, row.adds) for row in bars.rows if row.kind == "boost"] == [("answer_type loc", 2.0)]
    assert sum(row.adds for row in bars.rows) == pytest.approx(explanation.score, abs=1e-6)


def test_a_feature_has_a_row_only_if_it_adds_something(tmp_path: Path) -> None:
    texts = {"The storms came.": 0.0, "Share these storms.": 1.0}
    known = [
        Sentence(f"a.s{n}", text, features={FURNITURE: value})
        for n, (text, value) in enumerate(texts.items())
    ]
    load(tmp_path / "i", [document("a", *known)])
    with open_searcher(str(tmp_path / "i")) as searcher:
        for sentence, has_row in (("a.s0", False), ("a.s1", True)):
            bars = score_bars(
                explain_sentence(searcher, SearchRequest("storms"), sentence, Settings()).explanation
            )
            assert [row.label for row in bars.rows if row.kind == "feature"] == ["furniture satu"] * has_row


ACCENT = 'fill="#a3262e"'


def explained(
    searcher: Searcher,
    ranking: Ranking,
    query: str = "earthquakes relief China",
    sentence: str = "earthquake-relief.s0",
) -> ExplainedSentence:
    return explain_sentence(searcher, SearchRequest(query, ranking), sentence, Settings())


def drawn(sentence: ExplainedSentence) -> Markup:
    picture = tree_picture(sentence)
    assert picture is not None
    return picture


def test_the_paths_between_the_words_that_scored_are_drawn(searcher: Searcher) -> None:
    plain = explained(searcher, Ranking())
    assert plain.tree is not None and len(plain.tree.marked) == 2
    assert drawn(plain).count(ACCENT) == 2
    reranked = explained(searcher, Ranking.from_dict({"rerank": [{"signal": "mrf_sdm"}]}))
    assert reranked.explanation.second is not None
    assert drawn(reranked).count(ACCENT) == len(reranked.explanation.second.chosen)


def test_the_words_of_a_tree_are_escaped(searcher: Searcher) -> None:
    picture = drawn(explained(searcher, Ranking(), "pilot", "hostile.s0"))
    assert "<img" not in picture and "<script" not in picture


def test_a_term_set_that_scored_is_described_in_a_few_words(searcher: Searcher) -> None:
    second = explained(searcher, Ranking.from_dict({"model": "mrf_fdm"})).explanation.second
    assert second is not None
    descriptions = [describe_term_set(part) for part in second.signals[0].sets]
    assert descriptions and descriptions[0].startswith("proximity: earthquak + china, ")
    assert " apart, " in descriptions[0]
    second = explained(searcher, Ranking.from_dict({"model": "tdsr"})).explanation.second
    assert second is not None
    (part,) = second.signals[0].sets
    assert describe_term_set(part) == "earthquak, alone"
