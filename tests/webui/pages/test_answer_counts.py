from __future__ import annotations

import pytest

from esr.engines.index import NO_FILTERS
from esr.ranking.query_report import report_query, report_reading
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.arguments.search_request import SearchRequest
from webui.pages.answer_counts import AnswerCounts, count_answer


def counts(searcher: Searcher, query: str, require_all: bool = False, model: str = "2si") -> AnswerCounts:
    prepared = SearchRequest(query, Ranking(model), require_all=require_all).prepare(searcher)
    return count_answer(prepared.search(), prepared, report_query(prepared, NO_FILTERS))


def test_sentences_with_a_word_are_told_apart_from_those_that_are_ranked(searcher: Searcher) -> None:
    it = counts(searcher, "earthquake")
    assert (it.match, it.with_all) == ("one word", None)
    assert it.matching == searcher.search("earthquake", candidates="matching").total
    assert it.ranked == searcher.search("earthquake").total > it.matching


def test_sentences_with_all_words_are_told_apart_from_those_with_any(searcher: Searcher) -> None:
    it = counts(searcher, "relief funds")
    assert it.match == "any word"
    assert it.matching == searcher.search("relief funds", candidates="matching").total
    assert it.with_all == searcher.search("relief funds", require_all=True).total
    assert it.with_all < it.matching < it.ranked


@pytest.mark.parametrize(
    ("query", "require_all"),
    [("relief funds", True), ("seismological bureau", False), ("the relief funds", True)],
)
def test_where_all_that_match_have_all_words_there_is_one_number(
    searcher: Searcher, query: str, require_all: bool
) -> None:
    it = counts(searcher, query, require_all)
    assert (it.match, it.with_all) == ("all words", None)
    assert it.matching is not None and 0 < it.matching <= it.ranked


def test_where_the_query_requires_something_what_matches_is_what_is_ranked(searcher: Searcher) -> None:
    it = counts(searcher, '"relief funds" China dam')
    assert it.match == "conditions"
    assert it.matching == it.ranked > 0
    assert it.with_all == 0
    assert counts(searcher, '"relief funds"').with_all is None


def test_a_query_of_fields_alone_has_no_words_to_count(searcher: Searcher) -> None:
    it = counts(searcher, 'source:"Northern Wire"')
    assert (it.match, it.with_all) == ("conditions", None)
    assert it.matching == it.ranked > 0


def test_counts_that_the_engine_did_not_give_are_not_told(searcher: Searcher) -> None:
    prepared = SearchRequest("relief funds").prepare(searcher)
    it = count_answer(prepared.search(), prepared, report_reading(prepared))
    assert (it.matching, it.with_all) == (None, None)
    assert it.ranked > 0
