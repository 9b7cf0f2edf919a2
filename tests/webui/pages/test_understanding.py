from __future__ import annotations

from esr.ranking.query_report import report_reading
from esr.ranking.searcher import Searcher
from tests.support.fake_index import STORM, FakeIndex
from webui.arguments.search_request import SearchRequest
from webui.pages.understanding import MAX_IGNORED, MAX_NOTES, Understanding, describe_understanding


def understanding(query: str, is_literal: bool = False, require_all: bool = False) -> Understanding:
    search = SearchRequest(query, is_literal=is_literal, require_all=require_all)
    prepared = search.prepare(Searcher(FakeIndex(STORM)))
    return describe_understanding(search, report_reading(prepared))


def test_of_words_that_are_all_searched_for_there_is_nothing_to_say() -> None:
    it = understanding("storm damage")
    assert not (it.chips or it.notes or it.is_literal or it.requires_all or it.has_syntax)


def test_chips_have_what_is_required_first_and_then_what_is_excluded_and_ignored() -> None:
    it = understanding('the storm -tax "white house" -"carbon tax" +wind OR flood')
    assert [(chip.reading, chip.label) for chip in it.chips] == [
        ("required", "“white house”"),
        ("required", "wind or flood"),
        ("excluded", "tax"),
        ("excluded", "“carbon tax”"),
        ("ignored", "the"),
    ]
    assert it.has_syntax


def test_each_chip_has_the_query_without_it() -> None:
    it = understanding('the storm -tax "white house"')
    assert [chip.query for chip in it.chips] == [
        "the storm -tax",
        'the storm "white house"',
        'storm -tax "white house"',
    ]
    assert understanding('"white house"').chips[0].query is None


def test_words_that_are_required_by_a_setting_have_no_chips_of_their_own() -> None:
    it = understanding("storm damage", require_all=True)
    assert it.requires_all
    assert not it.chips


def test_a_literal_query_has_no_syntax() -> None:
    it = understanding('"storm" -damage', is_literal=True)
    assert it.is_literal
    assert not (it.chips or it.notes or it.has_syntax)


def test_a_note_shows_the_piece_of_the_query_that_it_is_about() -> None:
    (note,) = understanding("storm sorce:bbc").notes
    assert note.text == "sorce:"
    assert note.message == "There is no field sorce: did you mean source:?"
    assert understanding("storm sorce:bbc").has_syntax


def test_ignored_words_are_listed_once_and_not_without_end() -> None:
    stop_words = ["the", "of", "a", "an", "and", "or", "in", "to", "is", "it", "as", "at", "be", "by"]
    it = understanding("storm the the " + " ".join(stop_words))
    assert [chip.label for chip in it.chips] == stop_words[:MAX_IGNORED]
    assert it.more_ignored == len(stop_words) - MAX_IGNORED


def test_notes_are_not_listed_without_end() -> None:
    it = understanding("storm " + "-- " * (MAX_NOTES + 2))
    assert (len(it.notes), it.more_notes) == (MAX_NOTES, 2)
