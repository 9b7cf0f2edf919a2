"""

The reason for a sentence, in words.
"""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable
from esr.index.filters import NO_FILTERS, Filters
from esr.query import parse
from esr.ranking.query_report import report_query, report_reading
from esr.ranking.ranking import Ranking
from esr.ranking.reasons import describe_match
from esr.ranking.searcher import Searcher
from esr.text import dates
from esr.text.analyzer import get_analyzer
from tests.support.fake_index import FLOOD, STORM, FakeIndex
from webui.arguments.request import SearchRequest
from webui.pages.results import (
    MAX_IGNORED,
    MAX_NOTES,
    AnswerCounts,
    FacetList,
    Understanding,
    count_answer,
    count_facets,
    describe_understanding,
)


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


Q = "q=earthquake+relief+China"


def facets(searcher: Searcher, filters: Filters, long: str | None = None) -> dict[str, FacetList]:
    prepared = searcher.prepare("earthquake relief China", Ranking())
    return {facet.field: facet for facet in count_facets(prepared, filters, long)}


def test_each_count_is_of_sentences_that_hold_a_word_of_the_query_and_satisfy_its_filter(
    searcher: Searcher,
) -> None:
    by_field = facets(searcher, Filters())
    assert set(by_field) == {"source", "month", "location"}
    for facet in by_field.values():
        for value in facet.values:
            arguments = value.arguments
            filters = Filters(
                date_from=dates.parse_date_start(arguments["from"]) if "from" in arguments else None,
                date_to=dates.parse_date_end(arguments["to"]) if "to" in arguments else None,
                sources=(arguments["source"],) if "source" in arguments else (),
                entities=(arguments["entity"],) if "entity" in arguments else (),
            )
            answer = searcher.search("earthquake relief China", filters=filters, candidates="matching")
            assert answer.total == value.count
            assert searcher.search("earthquake relief China", filters=filters).total >= value.count
    assert by_field["source"].values[0].count < searcher.search("earthquake relief China").total


@pytest.mark.parametrize("query", ['"relief funds"', "China +relief", 'source:"Northern Wire"', "relie*"])
def test_where_the_query_requires_something_the_counts_are_of_sentences_that_have_it(
    searcher: Searcher, query: str
) -> None:
    prepared = searcher.prepare(parse(query), Ranking())
    (source,) = (facet for facet in count_facets(prepared, Filters()) if facet.field == "source")
    assert sum(value.count for value in source.values) == prepared.search().total > 0


def test_months_are_listed_newest_first(searcher: Searcher) -> None:
    names = [value.name for value in facets(searcher, Filters())["month"].values]
    assert names == sorted(names, reverse=True) and len(names) > 1


@pytest.mark.parametrize(
    "field, name, filters",
    [
        ("source", "Northern Wire", Filters(sources=("Northern Wire",))),
        ("month", "2024-11", Filters(dates.parse_date_start("2024-11"), dates.parse_date_end("2024-11"))),
        ("location", "China", Filters(entities=("location:China",))),
        ("location", "China", Filters(entities=("the CHINA’s",))),
        ("source", "Northern Wire", Filters(sources=("northern wire",))),
    ],
)
def test_a_field_is_counted_without_its_own_filter(
    searcher: Searcher, field: str, name: str, filters: Filters
) -> None:
    wide, narrow = facets(searcher, Filters())[field], facets(searcher, filters)[field]
    assert [(v.name, v.count) for v in wide.values] == [(v.name, v.count) for v in narrow.values]
    assert [v.name for v in narrow.values if v.is_selected] == [name]
    assert not any(v.is_selected for v in wide.values)


def test_an_engine_without_counts_gives_no_facets(index: FakeIndex) -> None:
    prepared = Searcher(index).prepare("storm", Ranking())
    index.error = EngineUnreachable("down")
    assert count_facets(prepared, Filters()) == []


def test_one_field_is_listed_at_length_in_its_place(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.results.VALUES", 1)
    monkeypatch.setattr("webui.pages.results.MORE_VALUES", 2)
    short, long = facets(searcher, Filters()), facets(searcher, Filters(), "month")
    assert list(short) == list(long) == ["source", "month", "location"]
    assert {field: len(facet.values) for field, facet in long.items()} == {
        "source": 1,
        "month": 2,
        "location": 1,
    }
    assert short["month"].has_more and not short["month"].is_long
    assert [field for field, facet in long.items() if facet.is_long] == ["month"]


def test_more_values_are_a_link_and_so_are_fewer(real: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webui.pages.results.VALUES", 1)
    short = real.get(f"/search?{Q}").text
    assert f'href="/search?{Q}&amp;facet=source#facets"' in short and "Fewer" not in short
    long = real.get(f"/search?{Q}&facet=source").text
    assert f'href="/search?{Q}#facets"' in long
    assert long.count("<bdi>") > short.count("<bdi>")
    refused = real.get(f"/search?{Q}&facet=place")
    assert refused.status_code == 400 and "nknown facet" in refused.text


def test_an_unknown_name_or_source_says_so_and_offers_the_nearest(real: FlaskClient) -> None:
    page = real.get(f"/search?{Q}&source=BBC&entity=Chine").text
    assert "unknown name &#39;Chine&#39;: did you mean &#39;China&#39;?" in page
    assert f'href="/search?{Q}&amp;source=BBC&amp;entity=China"' in page
    assert "unknown source &#39;BBC&#39;" in page
    assert "unknown" not in real.get(f"/search?{Q}&entity=china").text


ANALYZER = get_analyzer("english-stem")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("storm", "the word itself"),
        ("storms wind", "one of two words; in the headline"),
        ("storms houses", "both words"),
        ("storms houses blew", "two of three words; once beside it"),
        ("storm damage forty house", "all four words"),
        ("night hurt", "none of the words itself; twice beside it; in the headline"),
    ],
)
def test_the_reason_counts_the_words_of_the_query(query: str, reason: str) -> None:
    assert describe_match(STORM, dict.fromkeys(ANALYZER.terms(query)), ANALYZER) == reason


def test_numbers_are_spelled_up_to_ten() -> None:
    record = FLOOD._replace(previous="storm " * 3, next="storm " * 9)
    assert describe_match(record, ["storm"], ANALYZER) == "the word itself; 12 times beside it"
    assert describe_match(record._replace(next=None), ["storm"], ANALYZER).endswith("three times beside it")


def test_the_best_is_all_of_it_and_no_score_is_shown(real: FlaskClient) -> None:
    html = real.get("/search?q=earthquake+relief+China&fold=no").text
    shares = [int(share) for share in re.findall(r"(\d+)&thinsp;% of the best", html)]
    assert shares[0] == 100 and len(shares) > 3 and all(share <= 100 for share in shares)
    (listed,) = re.findall(r'(?s)<ol class="hits">(.*?)</ol>', html)
    assert "score" not in re.sub("<[^>]+>", "", listed)
    assert "% of the best" not in real.get("/search?q=earthquake&sort=date").text


def test_presets_lead_and_the_model_is_in_the_fine_print(real: FlaskClient) -> None:
    for address, label, model in (
        ("", "Balanced", "ranked by 2si"),
        ("&model=bm25", "Words alone", "ranked by bm25"),
        ("&model=dir", "ranked by dir", "ranked by dir"),
    ):
        html = real.get(f"/search?q=earthquake{address}").text
        summary = re.search(r'<span class="set">(.*?)</span>', html)
        assert summary and summary[1] == label
        assert f'<p class="fine">{model}' in html


def test_a_document_shows_scores_only_where_a_sentence_has_a_word(real: FlaskClient) -> None:
    html = real.get("/document?id=earthquake-relief&q=earthquake+relief+China").text
    assert html.count('class="why"') == html.count(" hit") > 0


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
