"""The page of the collection: each number is the length of the list that it leads to, on both engines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
from flask.testing import FlaskClient

from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, load
from webui.app import create_app
from webui.running.settings import Settings


@pytest.fixture
def client(anywhere: str) -> Iterator[FlaskClient]:
    documents = [
        document("a", "One.", "Two.", source="Wire", date="2017-03-06", title="A", language="en"),
        document("b", "Three.", source="Wire", date="2017-03-12", language="en"),
        document("c", "Four.", "Five.", source="The Post", date="2017-03-27", title="“…”", language="de"),
        document("d", "Six.", source="The Post", title="D"),
    ]
    load(anywhere, documents, analyzer="plain")
    with open_searcher(anywhere) as searcher:
        yield create_app(searcher, Settings(access_log=0)).test_client()


def test_the_map_has_weeks_without_articles_and_its_cells_lead_to_their_sentences(
    client: FlaskClient,
) -> None:
    html = client.get("/collection").text
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', html, re.DOTALL)
    shown = [
        [re.search(r'spoken">([\d,]+)', cell) for cell in re.findall(r'<td class="heat-.*?</td>', row)]
        for row in rows
    ]
    numbers = {
        re.sub(r"<[^>]+>", "", row.split("</th>")[0]): [m and m[1] for m in cells]
        for row, cells in zip(rows, shown, strict=True)
    }
    assert numbers == {"Wire": ["3", None, None, None], "The Post": [None, None, None, "2"]}
    links = re.findall(r'<td class="heat-\d"><a href="([^"]+)"[^>]*><span class="spoken">(\d+)', html)
    for link, number in links:
        answer = client.get(unescape(link).replace("/search?", "/search.json?")).get_json()
        assert answer["total"] == int(number), link
    assert len(client.get("/collection.csv").text.splitlines()) == 1 + 2 * 4


def test_undated_and_untitled_documents_are_counted_and_listed(client: FlaskClient) -> None:
    html = client.get("/collection").text
    for name, ids in (("undated", {"d"}), ("untitled", {"b", "c"})):
        assert re.search(rf'<a href="/collection/{name}">{len(ids)}</a>', html), name
        listed = client.get(f"/collection/{name}").text
        assert set(re.findall(r'href="/document\?id=(\w)', listed)) == ids
    assert re.search(r'<a href="/search\?q=language(?::|%3A)de[^"]*">1</a></dt><dd>document in German', html)
    assert "copies were not looked for" in html


def test_an_empty_collection_has_a_page(tmp_path: object) -> None:
    load(f"{tmp_path}/i", [], analyzer="plain")
    with open_searcher(f"{tmp_path}/i") as searcher:
        answer = create_app(searcher, Settings(access_log=0)).test_client().get("/collection")
    assert answer.status_code == 200 and "0 sentences of 0 documents" in answer.text
