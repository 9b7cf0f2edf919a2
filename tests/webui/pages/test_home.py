"""The first page says what the collection holds now, and how far an enrichment is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from esr.corpus.names_and_quotes import Quotation
from esr.enrichment.recipe import Recipe
from esr.index.filters import NO_FILTERS
from esr.index.questions import ByDay
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from tests.support.elasticsearch import document, load
from tests.support.index_contents import ENGINES, open_loaded
from webui.answers.rising_names import find_rising_names
from webui.app import create_app
from webui.pages.home import LatestQuotation
from webui.running.settings import Settings


def read_lists(client: FlaskClient) -> dict[str, list[tuple[str, str, int]]]:
    """The lists of the first page: the link, the value and the number of each."""
    parts = re.findall(r'<section aria-label="([^"]+)">(.*?)</section>', client.get("/").text, re.DOTALL)
    value = re.compile(r'href="([^"]+)"><bdi>([^<]+)</bdi></a> <span class="number">([\d,]+)<')
    return {
        label: [
            (unescape(link), name, int(number.replace(",", ""))) for link, name, number in value.findall(part)
        ]
        for label, part in parts
    }


@pytest.fixture
def request_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FlaskClient]:
    news = [
        document(id, f"A storm took bridge {id}.", "Nobody was hurt.", source="Wire", date="2024-03-01")
        for id in "ab"
    ]
    with open_loaded(request, tmp_path, news) as searcher:
        app = create_app(searcher, Settings(access_log=0))
        app.config["SEARCHER"] = searcher
        yield app.test_client()


@pytest.mark.parametrize("request_engine", ENGINES, indirect=True)
def test_the_first_page_shows_names_as_soon_as_they_are_stored_and_tells_what_lacks_them(
    request_engine: FlaskClient,
) -> None:
    client = request_engine
    searcher = client.application.config["SEARCHER"]
    before = read_lists(client)
    assert "People" not in before
    recipe = Recipe(("entities",), {"made": "by hand"})
    names = [SentenceEnrichment({}, (Entity("Ann Lee", "person"),), None), SentenceEnrichment({}, (), None)]
    with searcher.index.enrichment() as enrichment:
        enrichment.store(recipe, [("a", names)])
        enrichment.finish(recipe)
        assert [name for _, name, _ in read_lists(client)["People"]] == ["Ann Lee"]
        html = client.get("/").text
        assert "Not all documents are enriched yet: 1 of 2 have names." in " ".join(
            re.sub("<[^>]+>", "", html).split()
        )
        assert ">Names</a>" in client.get("/search?q=storm").text
        enrichment.store(recipe, [("b", names)])
        enrichment.finish(recipe)
    assert [number for *_, number in read_lists(client)["People"]] == [2]
    assert "enriched yet" not in client.get("/").text


def test_each_number_of_the_first_page_is_what_its_click_gives(real: FlaskClient) -> None:
    lists = read_lists(real)
    assert lists["Sources"]
    for values in lists.values():
        for link, name, number in values:
            line = real.get(link).text.split('class="count" role="status">')[1]
            assert int(line.split()[0].replace(",", "")) == number, name


def test_the_first_page_tells_stories_by_their_central_articles(tmp_path: Path) -> None:
    def article(id: str, text: str, source: str, title: str) -> Document:
        texts = (f"{text} in the night before the elections.", "Nobody was hurt.")
        return document(id, *texts, title=title, source=source, date="2024-03-04", language="en")

    news = [
        article("c", "The ministers of both countries talked about grain", "Post", "Grain talks go on"),
        article("a", "A storm took the bridge of Avonton", "Wire", "Storm takes bridge"),
        article("b", "The storm that took the bridge of Avonton has passed", "Post", "Bridge and storm"),
        article("d", "Harbour pilots of the southern pier went on strike", "Wire", "Strike at the pier"),
    ]
    load(str(tmp_path / "i"), news)
    with open_searcher(str(tmp_path / "i")) as searcher:
        html = create_app(searcher, Settings(access_log=0)).test_client().get("/").text
    stories = html.split('<article class="story">')[1:]
    heads = [re.search(r'class="open"[^>]*>([^<]+)<', story) for story in stories]
    assert heads[0] and heads[0][1] in ("Storm takes bridge", "Bridge and storm")
    assert "and 1 more source" in stories[0] and "more" not in stories[1] and len(stories) == 3
    assert "<b>Monday, " in html and '<time datetime="2024-03-04">4 March 2024</time>' in html


@pytest.mark.parametrize("text", ['"It ends. ', "“It ends.”", "It ends."])
def test_a_quotation_that_stands_alone_has_no_quotation_marks(text: str) -> None:
    ids = ("a.s0", "a")
    quotation = Quotation(text, "Ann", "ann lee", "said", *ids, text, 0, len(text), *[None] * 5)
    assert LatestQuotation(quotation, "Ann Lee", ()).text == "It ends."


def test_names_rise_that_the_latest_days_mention_more(tmp_path: Path) -> None:
    days = [f"2024-03-0{n}" for n in (1, 2, 3, 4, 6, 7, 8, 9)]  # without the fifth
    news = [document(f"d{n}", "A storm came.", "It left.", date=day) for n, day in enumerate(days)]
    load(str(tmp_path / "i"), news)
    with open_searcher(str(tmp_path / "i")) as searcher:
        index = searcher.index
        recipe = Recipe(("entities",), {"made": "by hand"})
        with index.enrichment() as enrichment:
            ann, bob = ((Entity(name, "person"),) for name in ("Ann Lee", "Bob Day"))
            for n in range(len(days)):
                names = [SentenceEnrichment({}, each if n < 4 else ann, None) for each in (bob, bob)]
                enrichment.store(recipe, [(f"d{n}", names)])
            enrichment.finish(recipe)
        (counts,) = index.count([None], NO_FILTERS, ByDay())
        rise = find_rising_names(searcher.snapshot().index, counts, 5)
    assert rise is not None and rise.since == "2024-03-06"
    (ann,) = rise.names
    assert (ann.name, ann.before, ann.latest) == ("Ann Lee", 0, 8)
    assert ann.days[-9:] == [0, 0, 0, 0, None, 2, 2, 2, 2]


def test_an_index_that_is_not_served_is_named_on_the_first_page(real: FlaskClient) -> None:
    answer = real.get("/?index=nosuch")
    assert answer.status_code == 400 and "nknown index" in answer.text
    assert "not responding" not in answer.text
