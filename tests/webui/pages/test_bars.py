from __future__ import annotations

from typing import Any

import pytest
from markupsafe import Markup

from esr.ranking.explain import Explanation, explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.answers.explanations import ExplainedSentence, explain_sentence
from webui.arguments.request import SearchRequest
from webui.pages.bars import (
    EVIDENCE_BAR_WIDTH,
    SCORE_BAR_WIDTH,
    Segment,
    describe_term_set,
    evidence_bars,
    score_bars,
    tree_picture,
)
from webui.running.settings import Settings

QUERY = "earthquake relief China"
RANKINGS = [
    {},
    {"model": "bm25", "priors": {"length": 1.0}},
    {"features": [{"feature": "subj", "form": "step", "w": 2.0}]},
    {"rerank": [{"signal": "mrf_fdm", "w": 5.0}]},
    {"model": "tdsr"},
]


def bars(searcher: Searcher, ranking: Ranking, k: int) -> list[tuple[str, list[Segment]]]:
    hits = searcher.search(QUERY, k, ranking=ranking).hits
    drawn = evidence_bars(searcher.prepare(QUERY, ranking), hits)
    assert hits and list(drawn) == [hit.sentence_id for hit in hits]
    assert any(drawn.values())
    return [(name, list(segments)) for name, segments in drawn.items()]


@pytest.mark.parametrize("data", RANKINGS)
def test_a_bar_has_what_raises_the_score_in_the_explanation(searcher: Searcher, data: dict) -> None:  # type: ignore[type-arg]
    ranking = Ranking.from_dict(data)
    for name, segments in bars(searcher, ranking, 8):
        explanation = explain(searcher.prepare(QUERY, ranking), name)
        weight = explanation.second.weight if explanation.second else 1.0
        adds = [weight * f.adds for t in explanation.terms for f in t.fields]
        adds += [weight * p.adds for p in (*explanation.priors, *explanation.features)]
        adds += [sum(p.adds for p in explanation.second.signals)] if explanation.second else []
        evidence = sum(part for part in adds if part > 1e-12)
        assert sum(s.adds for s in segments) == pytest.approx(evidence, abs=1e-6)


def test_segments_follow_each_other_within_the_drawing(searcher: Searcher) -> None:
    for _, segments in bars(searcher, Ranking(), 20):
        x = 0.0
        for segment in segments:
            assert segment.x == pytest.approx(x)
            x += segment.width
        assert x <= EVIDENCE_BAR_WIDTH + 1e-9


def test_more_results_do_not_change_the_bars_of_the_first(searcher: Searcher) -> None:
    hits = searcher.search(QUERY, 20).hits[::-1]  # the later ones have more evidence
    prepared = searcher.prepare(QUERY, Ranking())
    few, many = (evidence_bars(prepared, hits[:n]) for n in (15, 20))
    assert any(few.values())
    assert {name: many[name] for name in few} == few


def test_without_hits_or_terms_there_is_no_bar(searcher: Searcher) -> None:
    prepared = searcher.prepare(QUERY, Ranking())
    assert evidence_bars(prepared, []) == {}


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
