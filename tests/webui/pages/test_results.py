"""A page of results: its counts, its facets, what it says of the query and of each sentence."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from markupsafe import Markup

from esr.arguments.argument import Argument
from esr.arguments.filters import METADATA_FILTERS
from esr.errors import EngineUnreachable
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import ByField
from esr.query import parse
from esr.ranking.query_report import report_query, report_reading
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Quote, Sentence
from tests.support.fake_index import STORM as FAKE_STORM
from tests.support.fake_index import FakeIndex
from tests.support.folder_index import document, load
from webui.app import create_app
from webui.arguments.request import SearchRequest
from webui.pages.dates import count_dates
from webui.pages.facets import FacetList, count_facets
from webui.pages.rendering import split_end
from webui.pages.results import AnswerCounts, count_answer
from webui.pages.understanding import MAX_IGNORED, MAX_NOTES, Understanding, describe_understanding
from webui.running.settings import Settings


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
    assert set(by_field) == {"source", "location"}
    for facet in by_field.values():
        for value in facet.values:
            arguments = value.arguments
            filters = Filters(
                sources=(arguments["source"],) if "source" in arguments else (),
                entities=(arguments["entity"],) if "entity" in arguments else (),
            )
            answer = searcher.search("earthquake relief China", filters=filters, candidates="matching")
            assert answer.total == value.count
            assert searcher.search("earthquake relief China", filters=filters).total >= value.count
    assert by_field["source"].values[0].count < searcher.search("earthquake relief China").total


def test_a_key_of_the_metadata_with_a_filter_is_listed_under_its_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Argument("country", "only documents of this country", sets="meta.country", label="Country")
    monkeypatch.setitem(METADATA_FILTERS, row.sets, row)
    load(tmp_path / "index", [document("a", "The storm grew.", metadata={"country": "Chad"})])
    prepared = open_searcher(str(tmp_path / "index")).prepare("storm", Ranking())
    (facet,) = (facet for facet in count_facets(prepared, NO_FILTERS) if facet.field == row.sets)
    assert (facet.label, facet.argument) == ("Country", "country")
    assert [value.arguments for value in facet.values] == [{"country": "Chad"}]


@pytest.mark.parametrize("query", ['"relief funds"', "China +relief", 'source:"Northern Wire"', "relie*"])
def test_where_the_query_requires_something_the_counts_are_of_sentences_that_have_it(
    searcher: Searcher, query: str
) -> None:
    prepared = searcher.prepare(parse(query), Ranking())
    (source,) = (facet for facet in count_facets(prepared, Filters()) if facet.field == "source")
    assert sum(value.count for value in source.values) == prepared.search().total > 0


@pytest.mark.parametrize(
    "field, name, filters",
    [
        ("source", "Northern Wire", Filters(sources=("Northern Wire",))),
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
    assert count_dates(prepared, Filters()) is None


@pytest.mark.parametrize("query", ["earthquake relief China", "China +relief", 'source:"Northern Wire"'])
def test_the_chart_of_dates_counts_the_sentences_that_facets_count(searcher: Searcher, query: str) -> None:
    prepared = searcher.prepare(parse(query), Ranking())
    dates_of = count_dates(prepared, Filters())
    assert dates_of is not None
    counted = dict(zip(dates_of.timeline.periods, dates_of.timeline.series[0].counts, strict=True))
    facet = prepared.index.count([prepared.matching], Filters(), ByField(["month"], 100))[0]["month"]
    assert sum(counted.values()) == sum(count for _, count in facet) > 0


def test_the_chart_of_dates_keeps_all_periods_and_picks_those_of_the_filter(searcher: Searcher) -> None:
    prepared = searcher.prepare("earthquake relief China", Ranking())
    wide = count_dates(prepared, Filters())
    narrow = count_dates(prepared, Filters("2024-11", "2024-11"))
    assert wide and narrow and wide.timeline == narrow.timeline and not wide.picked
    assert len(wide.timeline.periods) <= 60 and len(wide.picked) < len(wide.timeline.periods)
    assert narrow.picked and all(period.startswith("2024") for period in narrow.picked)


@pytest.mark.parametrize("order", ["&novel=yes", "&sort=date"])
def test_the_rail_says_of_which_sentences_it_has_counts(real: FlaskClient, order: str) -> None:
    assert "Counts are of matching sentences." in real.get("/search?q=%22relief+funds%22").text
    assert "Counts are of sentences with a word of the query." in real.get(f"/search?{Q}").text
    assert "Counts are of sentences with all words." in real.get(f"/search?q=relief+China{order}").text
    assert (
        "Counts are of matching sentences." in real.get(f"/search?q=source:%22Northern+Wire%22{order}").text
    )


LINE = re.compile(r'class="count" role="status">(?:<[^>]+>)*([\d,]+) ')
TICK = re.compile(
    r'class="tick( chosen)?" href="([^"]+)"[^>]*><bdi>([^<]+)</bdi></a>.*?class="number">(\+?)([\d,]+)<',
    re.DOTALL,
)


def read_page(client: FlaskClient, address: str) -> tuple[int, list[tuple[str, str, str, int]]]:
    """The number of sentences of a page of results, and its values: chosen or not, link, sign and count."""
    html = client.get(unescape(address)).text
    (number,) = LINE.findall(html)
    rail = html.split('class="rail"')[1].split("</aside>")[0]
    values = [
        (chosen, link, sign, int(count.replace(",", "")))
        for chosen, link, _, sign, count in TICK.findall(rail)
    ]
    return int(number.replace(",", "")), values


@pytest.mark.parametrize(
    "query", ["relief+China", "earthquake", "%2Bchina+relief", "source:%22Northern+Wire%22"]
)
@pytest.mark.parametrize("order", ["", "&sort=date", "&require=all", "&model=bm25"])
def test_the_count_of_a_value_is_what_its_click_gives(real: FlaskClient, query: str, order: str) -> None:
    before, values = read_page(real, f"/search?q={query}{order}")
    assert values
    for _, link, sign, number in values:
        after, others = read_page(real, link)
        assert (sign, after) == ("", number)
        for is_chosen, further, plus, added in others:
            if not is_chosen and plus:
                assert read_page(real, further)[0] == after + added
    assert before


def test_a_value_is_excluded_by_a_link_in_the_query_language(real: FlaskClient) -> None:
    html = real.get(f"/search?{Q}").text
    address = re.search(r'class="exclude" href="([^"]*Northern[^"]*)"', html)
    assert address
    page = real.get(address[1].replace("&amp;", "&")).text
    assert "excluded</span> <bdi>source: Northern Wire" in page or "Northern Wire" in page
    assert '<span class="source"><bdi>Northern Wire' not in page
    assert 'class="exclude"' not in real.get(f"/search?{Q}&literal=yes").text


def test_a_language_is_chosen_and_left_in_the_query(tmp_path: Path) -> None:
    languages = {"a": "en", "b": "de", "c": "de-AT", "d": None}
    load(str(tmp_path / "i"), [document(id, "A storm came.", language=of) for id, of in languages.items()])
    with open_searcher(str(tmp_path / "i")) as searcher:
        client = create_app(searcher).test_client()

        def links(address: str) -> list[tuple[str, str]]:
            (facet,) = re.findall(r'id="facet-language">.*?</section>', client.get(address).text, re.DOTALL)
            return re.findall(r'class="tick[^"]*" href="([^"]+)".*?<bdi>([^<]+)', facet)

        chosen = {name: address for address, name in links("/search?q=storm")}
        assert list(chosen) == ["German", "German (AT)", "English"]
        german = chosen["German"]
        assert german == "/search?q=storm+language%3Ade"
        assert client.get(german.replace("search", "search.json")).json["total"] == 2  # type: ignore[index]
        assert ("/search?q=storm", "German") in links(german)
        assert "facet-language" not in client.get("/search?q=storm&literal=yes").text


def test_untitled_articles_are_headed_by_their_first_words(tmp_path: Path) -> None:
    first = "A very long first sentence about harbours, " * 4
    quote = Quote(0, 17, "Ann", None, "said")
    said = Sentence("x7.s1", '"The storm came," said Ann.', quotes=(quote,))
    load(tmp_path / "i", [document("x7", first, said, title=None)])
    with open_searcher(tmp_path / "i") as opened:
        client = create_app(opened, Settings(access_log=0)).test_client()
        shown = ("/search?q=storm", "/document?id=x7&q=storm", "/explain?id=x7.s1&q=storm", "/quotes?q=storm")
        for address in shown:
            html = client.get(address).text
            assert re.search(r">A very long first sentence about harbours, [^<]{10,50} …<", html), address
            assert ">x7<" not in html


def test_a_document_without_a_hit_is_not_shaded(tmp_path: Path) -> None:
    load(tmp_path / "i", [document("a", "Calm seas.", "Nothing blew.", title="Storm")])
    with open_searcher(tmp_path / "i") as opened:
        html = create_app(opened, Settings(access_log=0)).test_client().get("/document?id=a&q=storm").text
    assert "No sentence contains a word of the query" in html and 'class="shade-' not in html


def test_one_field_is_listed_at_length_in_its_place(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.facets.VALUES", 1)
    monkeypatch.setattr("webui.pages.facets.MORE_VALUES", 2)
    short, long = facets(searcher, Filters()), facets(searcher, Filters(), "source")
    assert list(short) == list(long) == ["source", "location"]
    assert {field: len(facet.values) for field, facet in long.items()} == {"source": 2, "location": 1}
    assert short["source"].has_more and not short["source"].is_long
    assert [field for field, facet in long.items() if facet.is_long] == ["source"]


def test_more_values_are_a_link_and_so_are_fewer(real: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webui.pages.facets.VALUES", 1)
    short = real.get(f"/search?{Q}").text
    assert f'href="/search?{Q}&amp;facet=source#facet-source"' in short and "Fewer" not in short
    long = real.get(f"/search?{Q}&facet=source").text
    assert f'href="/search?{Q}#facet-source"' in long
    assert long.count("<bdi>") > short.count("<bdi>")
    refused = real.get(f"/search?{Q}&facet=place")
    assert refused.status_code == 400 and "unknown facet" in refused.text.lower()


def test_an_unknown_name_or_source_says_so_and_offers_the_nearest(real: FlaskClient) -> None:
    page = real.get(f"/search?{Q}&source=BBC&entity=Chine").text
    assert "unknown name &#39;Chine&#39;: did you mean &#39;China&#39;?" in page
    assert f'href="/search?{Q}&amp;source=BBC&amp;entity=China"' in page
    assert "unknown source &#39;BBC&#39;" in page
    assert "unknown" not in real.get(f"/search?{Q}&entity=china").text


def test_presets_lead_and_the_model_is_in_the_fine_print(real: FlaskClient) -> None:
    for address, label, model in (
        ("", "With context", "ranked by 2si"),
        ("&model=bm25", "Sentence alone", "ranked by bm25"),
        ("&model=dir", "ranked by dir", "ranked by dir"),
    ):
        html = real.get(f"/search?q=earthquake{address}").text
        summary = re.search(r'<span class="set">(.*?)</span>', html)
        assert summary and summary[1] == label
        assert f"Ranking </span><b>{label.removeprefix('ranked by ')}</b>" in html
        assert f'<p class="fine">{model}' in html


def test_a_document_shows_scores_only_where_a_sentence_has_a_word(real: FlaskClient) -> None:
    html = real.get("/document?id=earthquake-relief&q=earthquake+relief+China").text
    assert html.count('class="why"') == html.count(" hit") > 0


def understanding(query: str, is_literal: bool = False, require_all: bool = False) -> Understanding:
    search = SearchRequest(query, is_literal=is_literal, require_all=require_all)
    prepared = search.prepare(Searcher(FakeIndex(FAKE_STORM)))
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
    assert "sorce" in note.message and "source:" in note.message
    assert understanding("storm sorce:bbc").has_syntax


def test_ignored_words_are_listed_once_and_not_without_end() -> None:
    stop_words = ["the", "of", "a", "an", "and", "or", "in", "to", "is", "it", "as", "at", "be", "by"]
    it = understanding("storm the the " + " ".join(stop_words))
    assert [chip.label for chip in it.chips] == stop_words[:MAX_IGNORED]
    assert it.more_ignored == len(stop_words) - MAX_IGNORED


def test_notes_are_not_listed_without_end() -> None:
    it = understanding("storm " + "-- " * (MAX_NOTES + 2))
    assert (len(it.notes), it.more_notes) == (MAX_NOTES, 2)


def test_the_end_of_a_very_long_sentence_is_apart_unless_it_has_the_words_of_the_query(
    tmp_path: Path,
) -> None:
    words = "and so it went on " * 30
    texts = {
        "early": ["A storm came, " + words],
        "late": [words + "until a storm came."],
        "passage": ["A storm came.", "The storm went on and on.", words + "and the storm went."],
        "short": ["Then the storm."],
    }
    load(tmp_path / "i", [document(id, *each) for id, each in texts.items()])
    with open_searcher(tmp_path / "i") as opened:
        html = create_app(opened, Settings(access_log=0)).test_client().get("/search?q=storm").text
    found = re.findall(r'data-sentence-id="(\w+).*?</article>', html, re.DOTALL)
    articles = dict(zip(found, re.findall(r"<article.*?</article>", html, re.DOTALL), strict=True))
    classes = {id: re.findall(r'<p class="(sentence[^"]*)"', article) for id, article in articles.items()}
    # All but a short sentence alone can be opened, even without neighbours or names.
    assert {id for id, each in articles.items() if "around" in each} == {"early", "late", "passage"}
    assert classes["early"] == ["sentence cut"] and classes["late"] == ["sentence"]
    assert sorted(classes["passage"]) == ["sentence", "sentence also", "sentence also"]
    plain = {id: unescape(re.sub("<[^>]+>", "", article)) for id, article in articles.items()}
    assert all(text in " ".join(plain[id].split()) for id, of_one in texts.items() for text in of_one)


# What is hidden of a long sentence


def test_a_sentence_is_never_cut_at_its_beginning_and_at_its_end_only_beyond_sixty_words() -> None:
    for text in ("", "no mark", "word " * 69 + "end", "x" * 900 + " <mark>storm</mark>"):
        assert split_end(Markup(text)) == (text, "")
    long = Markup("The leak about <mark>Flynn</mark> was a crime" + " word" * 90)
    shown, end = split_end(long)
    assert shown + end == long and shown.startswith("The leak about") and len(shown.split()) == 60
    far = Markup("word " * 80 + "<mark>storm</mark>" + " more" * 40)
    shown, end = split_end(far)
    assert shown + end == far and "<mark>storm</mark> more" in shown and end.endswith("more")
