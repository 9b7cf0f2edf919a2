"""The first page says what the collection holds now, and how far an enrichment is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from esr.enrichment.recipe import Recipe
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from tests.support.elasticsearch import document
from tests.support.index_contents import ENGINES, open_loaded
from webui.app import create_app
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
