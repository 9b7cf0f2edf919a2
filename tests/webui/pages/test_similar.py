"""The page "More like this" and its twin."""

from __future__ import annotations

from flask.testing import FlaskClient

from tests.support.api_requests import get

ID = "earthquake-relief.s0"


def test_the_page_lists_what_the_api_gives(real: FlaskClient) -> None:
    answer = get(real, "/similar", id=ID)
    assert answer["hits"] and all(hit["document_id"] != "earthquake-relief" for hit in answer["hits"])
    html = real.get(f"/similar?id={ID}").text
    assert html.count("<article") == len(answer["hits"])
    assert real.get(f"/similar.json?id={ID}").json["hits"] == answer["hits"]  # type: ignore[index]


def test_its_own_document_is_shown_by_choice(real: FlaskClient) -> None:
    answer = get(real, "/similar", id=ID, own="yes")
    documents = [hit["document_id"] for hit in answer["hits"]]
    assert "earthquake-relief" in documents and ID not in [hit["sentence_id"] for hit in answer["hits"]]
    assert "Without its own document" in real.get(f"/similar?id={ID}&own=yes").text


def test_every_result_leads_to_it(real: FlaskClient) -> None:
    assert f"/similar?q=earthquake&amp;k=100&amp;id={ID}" in real.get("/search?q=earthquake&k=100").text


def test_what_is_wrong_is_said(real: FlaskClient) -> None:
    assert real.get("/similar?id=nowhere").status_code == 404
    assert real.get("/similar").status_code == 400
    assert real.get(f"/similar?id={ID}&own=perhaps").status_code == 400
