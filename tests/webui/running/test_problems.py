from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable, UsageError
from tests.support.fake_index import FakeIndex
from webui.running.problems import as_sentence

pytestmark = pytest.mark.slow

ENGINE = [
    (EngineUnreachable("http://inside:9200: timed out"), 503, "engine_unreachable", "is not responding"),
    (IndexMissing("no index at /inside"), 503, "index_missing", "does not exist"),
    (IndexUnusable("/inside is damaged"), 503, "index_unusable", "cannot be used"),
    (EsrError("inside: something else"), 500, "internal", "went wrong"),
    (ZeroDivisionError("inside"), 500, "internal", "went wrong"),
]


@pytest.mark.parametrize(("error", "status", "code", "title"), ENGINE)
def test_an_engine_error_is_answered_without_internals(
    client: FlaskClient, index: FakeIndex, error: Exception, status: int, code: str, title: str
) -> None:
    index.error = error
    page = client.get("/search?q=storm")
    assert (page.status_code, page.mimetype) == (status, "text/html")
    assert title in page.text
    answer = client.get("/search.json?q=storm")
    assert answer.status_code == status
    assert answer.json is not None
    assert answer.json["error"]["code"] == code
    assert set(answer.json["error"]) == {"code", "message", "field"}
    for text in (page.text, answer.text):
        assert "inside" not in text and "Traceback" not in text
    assert ("Retry-After" in page.headers) == (status == 503)


@pytest.mark.parametrize(("error", "status"), [(e, s) for e, s, *_ in ENGINE])
def test_an_engine_error_is_logged(
    client: FlaskClient,
    index: FakeIndex,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
) -> None:
    index.error = error
    client.get("/search?q=storm")
    assert "inside" in caplog.text
    assert ("Traceback" in caplog.text) == (status == 500)


def test_the_page_recovers_with_the_engine(client: FlaskClient, index: FakeIndex) -> None:
    index.error = EngineUnreachable("down")
    assert client.get("/search?q=storm").status_code == 503
    index.error = None
    assert client.get("/search?q=storm").status_code == 200


def test_a_usage_error_of_the_engine_is_a_bad_request(client: FlaskClient, index: FakeIndex) -> None:
    index.error = UsageError("lambda + nu is 1.2: at most 1")
    answer = client.get("/search.json?q=storm")
    assert answer.status_code == 400
    assert answer.json == {
        "error": {"code": "bad_input", "message": "Lambda + nu is 1.2: at most 1.", "field": None}
    }


def test_parameters_that_contradict_each_other_are_a_bad_request(client: FlaskClient) -> None:
    answer = client.get("/search.json?q=storm&params.lambda=0.9&params.nu=0.9")
    assert answer.status_code == 400
    assert answer.json is not None and "lambda + nu" in answer.json["error"]["message"].lower()


def test_an_unknown_path_is_not_found(client: FlaskClient) -> None:
    assert "Page not found" in client.get("/nowhere").text
    assert client.get("/nowhere").status_code == 404
    assert client.get("/static/../app.py").status_code == 404
    answer = client.get("/nowhere.json")
    assert answer.json is not None and answer.json["error"]["code"] == "not_found"


@pytest.mark.parametrize("address", ["/search.csv?q=storm&k=101", "/search.bib?q=the", "/document.csv?id=x"])
def test_the_error_of_a_file_is_a_page_for_browsers_and_json_for_programs(
    client: FlaskClient, address: str
) -> None:
    for accept in ({}, {"Accept": "*/*"}, {"Accept": "text/csv"}):
        answer = client.get(address, headers=accept)
        assert answer.status_code in (400, 404)
        assert answer.json is not None and answer.json["error"]["field"] in ("k", "q", "id")
    page = client.get(address, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.mimetype) == (answer.status_code, "text/html")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/search?q=storm", "/search.json?q=storm", "/healthz"])
def test_pages_take_get_and_head_only(client: FlaskClient, method: str, path: str) -> None:
    answer = client.open(path, method=method)
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD"}


def test_a_head_request_is_answered_without_a_body(client: FlaskClient) -> None:
    answer = client.head("/search?q=storm")
    assert (answer.status_code, answer.data) == (200, b"")


def test_a_message_becomes_a_sentence() -> None:
    assert as_sentence("the query is empty") == "The query is empty."
    assert as_sentence("did you mean it?") == "Did you mean it?"
