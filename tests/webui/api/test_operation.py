from __future__ import annotations

import json

import pytest
from flask import Flask
from flask.testing import FlaskClient

from esr.errors import UsageError
from esr.ranking.searcher import open_searcher
from tests.support.api_requests import get
from webui.api.operation import BASE, json_response
from webui.app import create_app
from webui.running.cors import parse_origins
from webui.running.settings import Settings


def test_any_parser_accepts_the_json_of_an_answer() -> None:
    with Flask("test").app_context():
        text = json_response({"score": float("nan"), "text": "é"}).get_data(as_text=True)

    def reject(constant: str) -> None:
        raise ValueError(constant)

    assert json.loads(text, parse_constant=reject) == {"score": None, "text": "é"}


SEARCH = f"{BASE}/search?q=storm"


def test_an_answer_that_a_client_has_is_not_sent_again(where: str, client: FlaskClient) -> None:
    client.get(SEARCH)  # the first one may say that the kernel is being compiled
    first = client.get(SEARCH)
    tag = {"If-None-Match": first.headers["ETag"]}
    again = client.get(SEARCH, headers=tag)
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert client.get("/search.json?q=storm", headers=tag).status_code == 304
    for address in (SEARCH + "&k=1", f"{BASE}/models", f"{BASE}/status"):
        assert client.get(address, headers=tag).status_code == 200
    assert client.get(SEARCH, headers={"If-None-Match": 'W/"0"'}).json["total"] == first.get_json()["total"]


def test_errors_and_answers_to_bodies_have_no_tag(client: FlaskClient) -> None:
    assert "ETag" not in client.get(f"{BASE}/search?q=storm&k=0").headers
    assert "ETag" not in client.post(f"{BASE}/search", json={"q": "storm"}).headers


ORIGIN = {"Origin": "https://a.example"}


def test_pages_of_the_named_origins_may_use_the_api(where: str) -> None:
    settings = Settings(access_log=0, rate="4/minute", cors_origins="https://a.example http://b.example:8080")
    client = create_app(open_searcher(where), settings).test_client()
    asks = {"Access-Control-Request-Method": "POST"}
    preflight = client.options(SEARCH, headers=ORIGIN | asks)
    assert (preflight.status_code, preflight.data) == (204, b"")
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in preflight.headers["Access-Control-Allow-Headers"]
    assert client.options(SEARCH, headers={"Origin": "https://c.example"} | asks).status_code == 405
    answers = [
        client.get(address, headers=ORIGIN) for address in [SEARCH, f"{BASE}/search?k=0", SEARCH, SEARCH]
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 200, 429]  # the refused one counts
    for answer in (preflight, *answers):
        assert answer.headers["Access-Control-Allow-Origin"] == "https://a.example"
        assert "Origin" in answer.headers["Vary"]
        assert "RateLimit-Remaining" in answer.headers["Access-Control-Expose-Headers"]
    for origin in ("https://a.example.org", "http://a.example", "null"):
        assert "Access-Control-Allow-Origin" not in client.get(SEARCH, headers={"Origin": origin}).headers
    assert "Access-Control-Allow-Origin" not in client.get("/healthz", headers=ORIGIN).headers


def test_pages_of_other_sites_may_not_use_the_api_by_default(where: str, client: FlaskClient) -> None:
    answer = client.get(SEARCH, headers=ORIGIN)
    assert not [name for name in answer.headers if name.startswith("Access-Control")]
    open_to_all = create_app(open_searcher(where), Settings(access_log=0, cors_origins="*")).test_client()
    assert open_to_all.get(SEARCH, headers=ORIGIN).headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("origins", ["a.example", "https://", "https://a.example/page", "ftp://a.example"])
def test_an_origin_that_is_none_is_one_message(origins: str) -> None:
    with pytest.raises(UsageError, match="give origins such as"):
        parse_origins(origins)
    assert parse_origins("") == frozenset()


def test_a_document_is_one_of_several(client: FlaskClient) -> None:
    several = get(client, "/documents", id=["b", "nope", "a", "b"], q="flood")
    assert several["missing"] == ["nope"]
    assert several["documents"] == [get(client, "/document", id=id, q="flood") for id in ("b", "a")]
    error = client.get(f"{BASE}/documents?" + "&".join(f"id={n}" for n in range(101))).get_json()["error"]
    assert error["field"] == "id" and "at most 100" in error["message"]
