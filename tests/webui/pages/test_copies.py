"""Copies on the page of results, on the page of a document, in the API, in files and in Python."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import esr
from esr.ranking.searcher import open_searcher
from tests.index.test_reuse import FIRST, find
from tests.support.elasticsearch import load
from tests.support.page_corpus import read_json, read_table
from webui.app import create_app

Q = "q=breakwater+piers"
NOTE = "also in 3 sources, first in Northern Wire on 3 March 2024"


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = str(tmp_path_factory.mktemp("copies") / "index")
    load(where, FIRST)
    find(where)
    return where


@pytest.fixture(scope="module")
def copies(where: str) -> Iterator[FlaskClient]:
    with open_searcher(where) as searcher:
        yield create_app(searcher).test_client()


def test_a_hit_says_in_how_many_sources_it_stands_and_links_to_the_first(copies: FlaskClient) -> None:
    page = unescape(copies.get(f"/search?{Q}&fold=no").text)
    assert NOTE.replace("3 sources", "2 sources") in page, "its own source does not count"
    assert "first here on 3 March 2024" in page
    assert f'href="/document?{Q}&fold=no&id=wire#s0"' in page


def test_an_index_without_similar_sentences_has_no_copies(tmp_path: Path) -> None:
    with esr.create(tmp_path / "index", [{"id": "a", "text": "Rain fell on the hills all day."}]) as index:
        index.enrich("reuse")
        assert index.reuse().pairs == []


def test_the_first_page_opens_where_copies_were_looked_for(tmp_path: Path) -> None:
    folder = str(tmp_path / "index")
    load(folder, FIRST)
    with esr.open(folder) as index:
        index.enrich("reuse")
    with open_searcher(folder) as searcher:
        assert create_app(searcher).test_client().get("/").status_code == 200


def test_a_document_lists_its_sentences_that_stand_elsewhere(copies: FlaskClient) -> None:
    page = unescape(copies.get("/document?id=daily").text)
    assert "1 sentence stands in other documents too" in page and 'href="#s1"' in page
    for other in ("wire#s0", "evening#s0", "undated#s0"):
        assert f'href="/document?id={other}"' in page
    assert (
        "other documents too" not in copies.get("/document?id=evening&q=profit").text.split("breakwater")[0]
    )


def test_the_api_and_files_have_the_copies_that_are_asked_for(copies: FlaskClient) -> None:
    hits = read_json(copies, f"/api/v1/search?{Q}&fold=no&fields=copies")["hits"]
    by_id = {hit["sentence_id"]: hit["copies"] for hit in hits}
    assert by_id["undated.s0"] == {
        "text": NOTE,
        "documents": 4,
        "sources": ["Northern Wire", "Daily Post", "Evening News"],
        "first": {
            "sentence_id": "wire.s0",
            "document_id": "wire",
            "date": "2024-03-03",
            "source": "Northern Wire",
        },
    }
    schemas = read_json(copies, "/api/v1/openapi.json")["components"]["schemas"]
    for name in ("ListedHit", "ChosenHit"):
        (note, _null) = schemas[name]["properties"]["copies"]["anyOf"]
        assert note["properties"].keys() == by_id["undated.s0"].keys()
        assert note["properties"]["first"]["properties"].keys() == by_id["undated.s0"]["first"].keys()
    assert "copies" not in read_json(copies, f"/api/v1/search?{Q}")["hits"][0]
    rows = read_table(copies, f"/search.csv?{Q}&fold=no&fields=sentence_id,copies")
    assert {row["sentence_id"]: row["copies"] for row in rows}["undated.s0"] == NOTE


def test_hits_of_python_have_their_copies(where: str) -> None:
    with esr.open(where) as index:
        notes = {hit.id: hit.copies for hit in index.search("breakwater vessel")}
    note = notes["undated.s0"]
    assert note is not None and note.text == NOTE and note.group.first.document_id == "wire"
    assert notes["undated.s1"] is None
