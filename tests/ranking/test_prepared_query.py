"""The candidates of a prepared query, and what an answer says about its fields."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.index.filters import NO_FILTERS
from esr.index.hits import Hit
from esr.index.questions import EvidenceOf
from esr.ranking.prepared_query import add_nearest, is_candidate, known_scores
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from tests.support.elasticsearch import document, load


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    news = [
        document("a", "Storm.", "The storm rose over the river."),
        document("b", "Markets grew.", source="Wire"),
        document("c", "…", "A storm over the river rose and fell."),
    ]
    load(str(tmp_path / "index"), news)
    with open_searcher(str(tmp_path / "index")) as opened:
        yield opened


def test_a_sentence_of_a_single_word_is_a_candidate(searcher: Searcher) -> None:
    plan = searcher.prepare("storm", Ranking(candidates="matching")).plan
    evidence = searcher.index.read(["a.s0", "a.s1", "b.s0"], EvidenceOf(["storm"], []))
    assert is_candidate(plan, evidence).tolist() == [True, True, False]


def test_the_nearest_sentences_are_reranked_behind_the_best_by_words(searcher: Searcher) -> None:
    plan = searcher.prepare("storm", Ranking(candidates="matching")).plan
    result = searcher.index.search(plan, 9, NO_FILTERS)
    by_words = [hit.sentence_id for hit in result.hits]
    (near,) = searcher.search("markets", candidates="matching").hits
    nearest = [Hit(near.sentence_id, 0.9, None, near.ordinal)]
    candidates = add_nearest(searcher.index, plan, result, 1, nearest, lambda hits: None)
    assert [hit.sentence_id for hit in candidates.top] == [by_words[0], "b.s0"]
    assert [hit.sentence_id for hit in candidates.hits] == [by_words[0], "b.s0", *by_words[1:]]
    assert (candidates.by_words, candidates.total) == (1, 4)


def test_a_sentence_without_words_is_not_among_the_nearest(searcher: Searcher) -> None:
    plan = searcher.prepare("storm", Ranking(candidates="all")).plan
    result = searcher.index.search(plan, 1, NO_FILTERS)
    nearest = [Hit("b.s0", 0.9, None, 2), Hit("c.s0", 0.8, None, 3)]
    candidates = add_nearest(searcher.index, plan, result, 1, nearest, lambda hits: None)
    assert [hit.sentence_id for hit in candidates.top[1:]] == ["b.s0"]


def test_sentences_have_no_score_for_a_query_without_candidates(searcher: Searcher) -> None:
    prepared = searcher.prepare("nowhere", Ranking("bm25"))
    assert not prepared.has_candidates and known_scores(prepared, ["a.s0"]) == [0.0]


def test_a_search_has_ten_hits_unless_it_says_otherwise(tmp_path: Path) -> None:
    load(str(tmp_path / "many"), [document("d", *(f"Storm {number}." for number in range(12)))])
    with open_searcher(str(tmp_path / "many")) as searcher:
        assert len(searcher.prepare("storm", Ranking()).search().hits) == 10


def test_an_answer_names_the_sources_of_a_query_that_no_document_has(searcher: Searcher) -> None:
    assert searcher.search("markets source:Wire").unknown_filters == ()
    (unknown,) = searcher.search("markets source:nowhere").unknown_filters
    assert "nowhere" in str(unknown)
    assert searcher.search("markets", filters={"source": "Wire"}).unknown_filters == ()
