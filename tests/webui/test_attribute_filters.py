"""Authors, sections, keywords and metadata on the page and in the API: filters, counts, values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.ranking.searcher import open_searcher
from esr.text.document import ATTRIBUTES
from tests.support.folder_index import document, load
from webui.app import create_app
from webui.running.settings import Settings


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    where: Path = tmp_path_factory.mktemp("attributes") / "index"
    news = [
        ("a", {"section": "Sport", "authors": ("Jane Doe",), "metadata": {"desk": "Berlin"}}),
        ("b", {"section": "SPORT", "keywords": ("brexit", "trade"), "metadata": {"Desk": "BERLIN"}}),
        ("c", {"section": "World", "keywords": ("trade",), "metadata": {"desk": "Bonn", "a=b": "x"}}),
        ("d", {}),
    ]
    load(where, [document(id, f"A storm in {id}.", **known) for id, known in news])
    with open_searcher(str(where)) as searcher:
        yield create_app(searcher, Settings(access_log=0)).test_client()


def get(client: FlaskClient, operation: str, **arguments: Any) -> Any:
    answer = client.get(f"/api/v1/{operation}", query_string=arguments)
    assert answer.status_code == 200, answer.text
    return answer.json


def ids(client: FlaskClient, **arguments: Any) -> list[str]:
    hits = get(client, "search", **{"q": "storm", **arguments})["hits"]
    return sorted(hit["document_id"] for hit in hits)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"section": "sport"}, "ab"),
        ({"section": ["sport", "world"]}, "abc"),
        ({"author": "jane doe"}, "a"),
        ({"keyword": "Trade"}, "bc"),
        ({"meta": "desk=berlin"}, "ab"),
        ({"meta": ["DESK=berlin", "desk=bonn"], "section": "world"}, "c"),
        ({"q": 'storm section:sport -author:"Jane Doe"'}, "b"),
        ({"q": "storm keyword:trade keyword:brexit"}, "b"),
        ({"q": "storm meta.desk:berlin OR meta.desk:Bonn"}, "abc"),
        ({"q": "storm -section:sport"}, "cd"),
    ],
)
def test_a_search_is_limited_by_what_is_known(client: FlaskClient, arguments: Any, expected: str) -> None:
    assert "".join(ids(client, **arguments)) == expected


def test_values_are_counted_under_one_form(client: FlaskClient) -> None:
    fields = ["section", "keyword", "meta.desk"]
    counted = get(client, "facets", q="storm", field=fields)["facets"]
    values = {facet["field"]: [(v["value"], v["count"]) for v in facet["values"]] for facet in counted}
    assert values == {
        "section": [("SPORT", 2), ("World", 1)],
        "keyword": [("trade", 2), ("brexit", 1)],
        "meta.desk": [("BERLIN", 2), ("Bonn", 1)],
    }


def test_values_and_keys_are_listed_and_completed(client: FlaskClient) -> None:
    assert [v["value"] for v in get(client, "values", field="section", prefix="sp")["values"]] == ["SPORT"]
    assert [v["value"] for v in get(client, "values", field="meta")["values"]] == ["desk", "a=b"]
    assert [v["value"] for v in get(client, "values", field="meta.DESK")["values"]] == ["BERLIN", "Bonn"]
    for typed, completed in (
        ("storm author:ja", 'storm author:"Jane Doe"'),
        ("storm meta.de", "storm meta.desk:"),
        ("storm meta.desk:bo", "storm meta.desk:Bonn"),
    ):
        (completion,) = get(client, "complete", q=typed)["completions"]
        assert completion["query"] == completed


def test_an_unknown_value_offers_the_nearest(client: FlaskClient) -> None:
    unknown = get(client, "search", q="storm", meta="dsk=Berlin")["unknown_filters"]
    assert [(one["field"], one["nearest"]) for one in unknown] == [("meta", "desk=Berlin")]
    page = client.get("/search?q=storm&section=sprt").text
    assert "unknown section" in page and "section=SPORT" in page


def test_metadata_needs_a_key_and_a_value(client: FlaskClient) -> None:
    answer = client.get("/api/v1/search?q=storm&meta=desk")
    assert answer.status_code == 400 and "KEY=VALUE" in answer.text


def test_the_page_narrows_down_by_what_is_known(client: FlaskClient) -> None:
    page = client.get("/search?q=storm&meta=desk%3DBerlin").text
    text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "Sections SPORT 2" in text and "Authors Jane Doe 1" in text and "Keywords" in text
    assert "desk BERLIN" in text and "Bonn" in text
    assert "meta=desk%3DBonn" in page


def test_the_form_has_a_field_for_each_kind_of_value_that_completes(client: FlaskClient) -> None:
    page = client.get("/").get_data(as_text=True)
    for name in ("source", *ATTRIBUTES, "entity"):
        assert f'name="{name}" type="text"' in page and f'<datalist id="{name}-values">' in page
        assert "values" in get(client, "values", field=name)
