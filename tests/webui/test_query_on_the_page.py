"""What the page of results says about the query: how it was read, what matches it, what was meant."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable
from esr.index.questions import ByField
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.ranking.spelling import Suggestion, WordCount
from tests.support.fake_index import FLOOD, STORM, FakeIndex, many
from webui.app import create_app
from webui.running.settings import Settings

pytestmark = pytest.mark.slow


TAG = re.compile(r"<[^>]+>")


def html_of(client: FlaskClient, query: str, more: str = "") -> str:
    response = client.get(f"/search?q={quote(query)}{more}")
    assert response.status_code == 200, response.text
    return response.text


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(TAG.sub("", html))).strip()


def part(html: str, start: str, end: str) -> str:
    """The text between two pieces of HTML; none if the first is not there."""
    return text_of(html.partition(start)[2].partition(end)[0])


def chips(html: str) -> list[str]:
    read = html.partition('aria-label="How the query was read">')[2].partition("</ul>")[0]
    texts = [text_of(item) for item in read.split("</li>")]
    return [text.removeprefix("Remove: ") for text in texts if text.startswith("Remove: ")]


def target(html: str, text: str) -> tuple[str, dict[str, str]]:
    """Where the link with this text leads: the path and the arguments."""
    (href,) = [
        unescape(href)
        for href, inside in re.findall(r'<a href="([^"]*)"[^>]*>(.*?)</a>', html, re.S)
        if text_of(inside).removeprefix("Remove: ") == text
    ]
    parts = urlsplit(href)
    return parts.path, dict(parse_qsl(parts.query))


def count_line(html: str) -> str:
    return part(html, '<p class="count" role="status">', "</p>")


def test_a_plain_query_has_no_chips_notes_or_links(client: FlaskClient) -> None:
    html = html_of(client, "storm damage")
    assert chips(html) == []
    assert 'class="note"' not in html


def test_a_period_is_written_as_a_date_and_one_without_articles_leads_to_the_newest(
    real: FlaskClient,
) -> None:
    html = html_of(real, "relief", "&after=2035-11-28&before=2035-11-29")
    period = part(html, '<ul class="chips" aria-label="Filters">', "</ul>")
    assert period == "Remove: from 28 November 2035Remove: before 29 November 2035"
    assert target(html, "Show the newest sentences") == ("/search", {"q": "relief", "sort": "date"})


def test_each_thing_that_was_understood_is_removed_by_a_link(client: FlaskClient) -> None:
    html = html_of(client, '"forty houses" -flood the storm', "&model=dir")
    assert chips(html) == [
        "required “forty houses”",
        "excluded flood",
        "ignored the",
    ]
    arguments = {"q": "-flood the storm", "model": "dir"}
    assert target(html, "required “forty houses”") == ("/search", arguments)
    assert target(html, "ignored the")[1]["q"] == '"forty houses" -flood storm'


def test_what_is_left_of_a_query_without_its_only_part_is_the_first_page(client: FlaskClient) -> None:
    html = html_of(client, '"forty houses"', "&source=x")
    assert target(html, "required “forty houses”") == ("/", {"source": "x"})


def test_a_query_with_syntax_can_be_searched_for_literally_and_back(client: FlaskClient) -> None:
    html = html_of(client, '"forty houses"')
    path, arguments = target(html, "Search for these words literally")
    assert (path, arguments) == ("/search", {"q": '"forty houses"', "literal": "yes"})
    literal = html_of(client, '"forty houses"', "&literal=yes")
    assert chips(literal) == ["searched literally"]
    assert target(literal, "searched literally") == ("/search", {"q": '"forty houses"'})
    assert "Search for these words literally" not in literal


def test_a_note_is_a_line_with_the_piece_that_it_is_about(client: FlaskClient) -> None:
    html = html_of(client, "storm - flood")
    assert "- This sign has no effect: put it directly before a word, a phrase or a field." in text_of(html)
    operator = html_of(client, "OR storm")
    assert 'note"><bdi>OR</bdi> is read as a word: on both sides it needs something to find' in operator


@pytest.mark.parametrize(
    ("query", "more", "line"),
    [
        ("storm", "", "2 sentences with this word in 2 articles"),
        ("storm flood", "", "2 sentences with any of the words, 1 with all words in 1 article"),
        ("houses flood", "", "2 sentences with any of the words, none with all words"),
        ("forty houses", "", "1 sentence with all words in 1 article"),
        ("storm flood", "&require=all", "1 sentence with all words in 1 article"),
        ('"forty houses" storm', "", "1 matching sentence in 1 article"),
        ("+storm flood", "", "2 matching sentences in 2 articles, 1 with all words"),
        ("storm flood", "&sort=date", "1 sentence with all words in 1 article"),
        ("source:Wire", "&sort=date", "2 matching sentences in 2 articles"),
    ],
)
def test_the_counts_are_of_what_they_say(client: FlaskClient, query: str, more: str, line: str) -> None:
    assert count_line(html_of(client, query, more)) == line


def test_the_line_of_count_has_one_number_however_many_are_listed() -> None:
    client = create_app(Searcher(FakeIndex(*many(30)))).test_client()
    for more in ("&passages=no", "&group=document", "&k=20"):
        assert count_line(html_of(client, "storm", more)) == "30 sentences with this word in 1 article"
    assert "10 shown" in text_of(html_of(client, "storm", "&passages=no"))


def test_all_words_can_be_required_and_that_can_be_undone(client: FlaskClient) -> None:
    html = html_of(client, "storm flood", "&k=20")
    path, arguments = target(html, "all words")
    assert (path, arguments) == ("/search", {"q": "storm flood", "k": "20", "require": "all"})
    narrow = html_of(client, "storm flood", "&k=20&require=all")
    assert chips(narrow) == ["all words"]
    assert target(narrow, "all words") == ("/search", {"q": "storm flood", "k": "20"})


def test_all_words_is_no_link_where_no_sentence_has_them(client: FlaskClient) -> None:
    assert "require=all" not in html_of(client, "houses flood")


def test_nothing_found_with_all_words_leads_to_any(client: FlaskClient) -> None:
    html = html_of(client, "houses flood", "&require=all")
    assert "No sentence has all of these words." in text_of(html)
    assert target(html, "Search for any of them") == ("/search", {"q": "houses flood"})


def test_stop_words_are_ignored_also_where_nothing_is_found(client: FlaskClient) -> None:
    assert chips(html_of(client, "the blorf")) == ["ignored the"]


@pytest.fixture
def suggesting(monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    """A page that takes `strom` for a slip."""

    def suggest(prepared: Any) -> tuple[Suggestion, ...]:
        words = (WordCount("storm", 1234), WordCount("storms", 5))
        return (Suggestion("strom", 0, 5, words, ("storm flood", "storms flood")),)

    monkeypatch.setattr("esr.ranking.query_report.suggest", suggest)
    return create_app(Searcher(FakeIndex(STORM, FLOOD))).test_client()


@pytest.mark.parametrize(("query", "answer"), [("strom flood", "hits"), ("+strom", "nothing")])
def test_words_that_may_have_been_meant_are_links_above_the_results(
    suggesting: FlaskClient, query: str, answer: str
) -> None:
    html = html_of(suggesting, query, "&model=dir")
    line = "Did you mean: storm (1,234 sentences) · storms (5 sentences)"
    assert part(html, '<p class="suggested">', "</p>") == line.partition("Did")[0] + line
    assert target(html, "storm") == ("/search", {"q": "storm flood", "model": "dir"})
    assert html.index('class="suggested"') < html.index(f'class="{answer}"')


def test_a_query_without_any_known_word_is_answered_as_it_was_meant(suggesting: FlaskClient) -> None:
    html = html_of(suggesting, "strom", "&model=dir")
    line = "No sentence has strom. Sentences for “storm”. Search instead for strom"
    assert text_of(part(html, '<p class="suggested">', "</p>")) == line
    assert 'id="hit-1"' in html and "<title>storm" in html and 'value="storm"' in html
    assert target(html, "Over time") == ("/timeline", {"q": "storm", "model": "dir"})
    assert target(html, "strom") == ("/search", {"q": "strom", "model": "dir", "literal": "yes"})
    as_typed = html_of(suggesting, "strom", "&literal=yes")
    assert "Did you mean: storm" in text_of(as_typed) and 'class="nothing"' in as_typed


def test_an_engine_that_cannot_count_still_gives_sentences(
    client: FlaskClient, index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> Any:
        raise EngineUnreachable("down")

    monkeypatch.setattr(index, "count", fail)
    html = html_of(client, '+storm the "forty houses"')
    assert len(chips(html)) == 3
    assert 'id="hit-1"' in html
    assert count_line(html_of(client, "storm flood")) == "2 sentences ranked"


def test_counts_beside_facets_say_what_they_count(client: FlaskClient) -> None:
    assert "Counts are of sentences with a word of the query." in html_of(client, "storm")
    assert "Counts are of matching sentences." in html_of(client, '"forty houses"')


def test_words_with_a_prefix_of_the_query_are_marked(client: FlaskClient) -> None:
    assert "<mark>storms</mark>" in html_of(client, "stor*")


def test_a_hint_shows_examples_of_the_query_language(client: FlaskClient) -> None:
    html = client.get("/").text
    assert "In quotes they are a phrase" in html
    assert "<code>title:</code>" in html
    assert 'href="/#how"' in html_of(client, "storm")


def test_many_queries_are_linked_with_their_syntax_and_without_what_is_required(client: FlaskClient) -> None:
    html = html_of(client, "storm", "&literal=yes&require=all&model=dir")
    assert target(html, "Many queries at once") == ("/batch", {"literal": "yes", "model": "dir"})


# Each page and each operation of the API plans its query once, and searches once for each ranking.


FEEDBACK = "&boost=feedback:0.5"


class CountingIndex(FakeIndex):
    """Counts the questions that need the engine."""

    def __init__(self) -> None:
        super().__init__(STORM, FLOOD)
        self.calls: Counter[str] = Counter()

    def statistics(self, terms: Any, language: str | None = None) -> Any:
        if terms:
            self.calls["statistics"] += 1
        return super().statistics(terms, language)

    def search(self, *args: Any, **settings: Any) -> Any:
        self.calls["search"] += 1
        return super().search(*args, **settings)

    def count(self, *args: Any) -> Any:
        if isinstance(args[-1], ByField):
            self.calls["facets"] += 1
        return super().count(*args)


@pytest.fixture
def counting() -> CountingIndex:
    return CountingIndex()


@pytest.fixture
def calls(counting: CountingIndex, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a query was prepared, a plan made, and the engine asked."""
    prepare, plan = Searcher.prepare_interpretation, Ranking.plan

    def counted_prepare(*args: Any, **settings: Any) -> Any:
        counting.calls["prepare"] += 1
        return prepare(*args, **settings)

    def counted_plan(*args: Any) -> Any:
        counting.calls["plan"] += 1
        return plan(*args)

    monkeypatch.setattr(Searcher, "prepare_interpretation", counted_prepare)
    monkeypatch.setattr(Ranking, "plan", counted_plan)
    return counting.calls


@pytest.fixture
def counted_client(counting: CountingIndex) -> FlaskClient:
    return create_app(Searcher(counting), Settings(access_log=0)).test_client()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address", ["/search?", "/search.csv?", "/search.run?", "/search.json?", "/api/v1/search?"]
)
def test_a_search_is_planned_once_and_asked_once(
    counted_client: FlaskClient, calls: Counter[str], address: str
) -> None:
    assert counted_client.get(f"{address}q=storm").status_code == 200
    facets = calls.pop("facets", 0)
    assert calls == {"prepare": 1, "plan": 1, "statistics": 1, "search": 1}
    assert facets == (address == "/search?")


def test_a_query_without_any_known_word_is_searched_only_as_it_was_meant(
    suggesting: FlaskClient, counted_client: FlaskClient, calls: Counter[str]
) -> None:
    assert "Sentences for “storm”" in text_of(html_of(counted_client, "strom"))
    assert calls == {"prepare": 2, "plan": 2, "statistics": 2, "search": 1, "facets": 1}


@pytest.mark.parametrize("address", ["/search?", "/search.csv?", "/api/v1/search?"])
def test_feedback_makes_one_first_pass(
    counted_client: FlaskClient, calls: Counter[str], address: str
) -> None:
    """The first pass has a plan, statistics and a search of its own: the query without any boost."""
    assert counted_client.get(f"{address}q=storm{FEEDBACK}").status_code == 200
    calls.pop("facets", 0)
    assert calls == {"prepare": 1, "plan": 2, "statistics": 2, "search": 2}


@pytest.mark.parametrize("address", ["/explain?id=a.s1&", "/api/v1/explain?id=a.s1&"])
@pytest.mark.parametrize(("boost", "searches"), [("", 0), (FEEDBACK, 1)])
def test_an_explanation_is_planned_once(
    counted_client: FlaskClient, calls: Counter[str], address: str, boost: str, searches: int
) -> None:
    assert counted_client.get(f"{address}q=storm{boost}").status_code == 200
    assert (calls["prepare"], calls["search"]) == (1, searches)


@pytest.mark.parametrize("address", ["/document?id=a&", "/api/v1/document?id=a&"])
@pytest.mark.parametrize(("boost", "searches"), [("", 0), (FEEDBACK, 1)])
def test_the_scores_of_a_document_are_planned_once(
    counted_client: FlaskClient, calls: Counter[str], address: str, boost: str, searches: int
) -> None:
    """The page also searches for similar articles."""
    assert counted_client.get(f"{address}q=storm{boost}").status_code == 200
    is_page = address.startswith("/document")
    assert (calls["prepare"], calls["search"]) == (1 + is_page, searches)


@pytest.mark.parametrize("address", ["/compare?", "/api/v1/compare?"])
def test_a_comparison_plans_and_searches_once_for_each_ranking(
    counted_client: FlaskClient, calls: Counter[str], address: str
) -> None:
    assert counted_client.get(f"{address}q=storm&vs.model=bm25{FEEDBACK}").status_code == 200
    assert calls == {"prepare": 2, "plan": 3, "statistics": 3, "search": 3}


def test_a_batch_plans_each_query_once(counted_client: FlaskClient, calls: Counter[str]) -> None:
    assert counted_client.post(f"/batch?{FEEDBACK}", data={"queries": "storm\nflood"}).status_code == 200
    assert (calls["prepare"], calls["search"]) == (2, 4)
    calls.clear()
    queries = [{"id": "1", "query": "storm"}, {"id": "2", "query": "flood"}]
    body = {"queries": queries, "ranking": {"boosts": {"feedback": 0.5}}}
    assert counted_client.post("/api/v1/batch", json=body).status_code == 200
    assert (calls["prepare"], calls["search"]) == (2, 4)
