"""What the page of results says about the query: how it was read, what matches it, what was meant."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable
from esr.ranking.query_report import Suggestion, WordCount
from esr.ranking.searcher import Searcher
from tests.support.fake_index import FLOOD, STORM, FakeIndex, many
from webui.app import create_app

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
    texts = part(html, 'aria-label="How the query was read">', "</ul>").split("Remove: ")[1:]
    return [text.strip() for text in texts]


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
    return part(html, '<p class="count" role="status">', '<span class="took">')


def test_a_plain_query_has_no_chips_notes_or_links(client: FlaskClient) -> None:
    html = html_of(client, "storm damage")
    assert chips(html) == []
    assert 'class="note"' not in html


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
    assert (path, arguments) == ("/search", {"q": '"forty houses"', "syntax": "none"})
    literal = html_of(client, '"forty houses"', "&syntax=none")
    assert chips(literal) == ["searched literally"]
    assert target(literal, "searched literally") == ("/search", {"q": '"forty houses"'})
    assert "Search for these words literally" not in literal


def test_a_note_is_a_line_with_the_piece_that_it_is_about(client: FlaskClient) -> None:
    html = html_of(client, "storm - flood")
    assert "- This sign has no effect: put it directly before a word, a phrase or a field." in text_of(html)


@pytest.mark.parametrize(
    ("query", "more", "line"),
    [
        ("storm", "", "2 sentences with this word. 2 ranked"),
        ("storm flood", "", "1 sentence with all words, 2 with any. 2 ranked"),
        ("houses flood", "", "No sentence with all words, 2 with any. 2 ranked"),
        ("forty houses", "", "1 sentence with all words. 1 ranked"),
        ("storm flood", "&require=all", "1 sentence with all words. 1 ranked"),
        ('"forty houses" storm', "", "1 matching sentence. 1 ranked"),
        ("+storm flood", "", "2 matching sentences, 1 with all words. 2 ranked"),
    ],
)
def test_the_counts_are_of_what_they_say(client: FlaskClient, query: str, more: str, line: str) -> None:
    assert count_line(html_of(client, query, more)) == line


def test_only_a_part_of_what_is_ranked_is_listed() -> None:
    client = create_app(Searcher(FakeIndex(*many(30)))).test_client()
    line = "30 sentences with this word. The best 10 of 30 ranked"
    assert count_line(html_of(client, "storm", "&passages=no")) == line
    line = "30 sentences with this word. 1 document with the best of 30 ranked"
    assert count_line(html_of(client, "storm", "&group=document")) == line


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


@pytest.mark.parametrize("query", ["strom flood", "strom"])
def test_words_that_may_have_been_meant_are_links_above_the_results(
    suggesting: FlaskClient, query: str
) -> None:
    html = html_of(suggesting, query, "&model=dir")
    line = "Did you mean: storm (1,234 sentences) · storms (5 sentences)"
    assert part(html, '<p class="suggested">', "</p>") == line.partition("Did")[0] + line
    assert target(html, "storm") == ("/search", {"q": "storm flood", "model": "dir"})
    answer = "nothing" if query == "strom" else "hits"
    assert html.index('class="suggested"') < html.index(f'class="{answer}"')


def test_an_engine_that_cannot_count_still_gives_sentences(
    client: FlaskClient, index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> Any:
        raise EngineUnreachable("down")

    monkeypatch.setattr(index, "count", fail)
    html = html_of(client, '+storm the "forty houses"')
    assert len(chips(html)) == 3
    assert 'id="hit-1"' in html
    assert count_line(html_of(client, "storm flood")) == "2 ranked"


def test_counts_beside_facets_say_what_they_count(client: FlaskClient) -> None:
    assert "Counts are of sentences with a word of the query." in html_of(client, "storm")
    assert "Counts are of matching sentences." in html_of(client, '"forty houses"')


def test_words_with_a_prefix_of_the_query_are_marked(client: FlaskClient) -> None:
    assert "<mark>storms</mark>" in html_of(client, "stor*")


def test_a_hint_shows_examples_of_the_query_language(client: FlaskClient) -> None:
    html = client.get("/").text
    assert "sentences with this phrase" in html
    assert "<code>title:</code>" in html


def test_many_queries_are_linked_with_their_syntax_and_without_what_is_required(client: FlaskClient) -> None:
    html = html_of(client, "storm", "&syntax=none&require=all&model=dir")
    assert target(html, "many queries at once") == ("/batch", {"syntax": "none", "model": "dir"})
