from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from esr.errors import EngineUnreachable
from tests.support.fake_index import FakeIndex

PATHS = [
    "/",
    "/search?q=storm",
    "/search.json?q=storm",
    "/healthz",
    "/static/esr.css",
    "/static/esr.js",
    "/nowhere",
    "/search",
]


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_security_headers_and_no_cookie(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        headers = answer.headers
    assert headers["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize("error", [EngineUnreachable("down"), ZeroDivisionError()])
def test_errors_have_them_too(client: FlaskClient, index: FakeIndex, error: Exception) -> None:
    index.error = error
    headers = client.get("/search?q=storm").headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "private, no-cache"


def test_static_files_can_be_cached(client: FlaskClient) -> None:
    with client.get("/static/esr.css") as answer:
        assert "max-age" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", PATHS)
def test_no_header_comes_twice(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        names = [name.lower() for name, _ in answer.headers]
    assert sorted(names) == sorted(set(names))
