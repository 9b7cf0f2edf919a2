"""The language of a page: by the browser, by the reader's choice, by the server's setting."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from esr.errors import UsageError
from esr.ranking.searcher import Searcher
from tests.support.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.running.settings import Settings


def language_of(html: str) -> tuple[str, str]:
    """The language and the direction of a page."""
    found = re.search(r'<html lang="(\w+)" dir="(\w+)">', html)
    assert found
    return found[1], found[2]


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("", ("en", "ltr")),
        ("de-AT,de;q=0.9,en;q=0.5", ("de", "ltr")),
        ("it,ar;q=0.8,en;q=0.5", ("ar", "rtl")),
        ("it", ("en", "ltr")),
        ("x" * 500 + ";q=z", ("en", "ltr")),
    ],
)
def test_a_page_is_in_the_best_language_that_the_browser_accepts(
    client: FlaskClient, accepted: str, expected: tuple[str, str]
) -> None:
    answer = client.get("/", headers={"Accept-Language": accepted} if accepted else {})
    assert language_of(answer.text) == expected
    assert answer.headers["Content-Language"] == expected[0]
    assert {"Accept-Language", "Cookie"} <= set(answer.headers["Vary"].split(", "))


def test_the_choice_of_a_reader_stays_and_beats_the_browser(client: FlaskClient) -> None:
    german = {"Accept-Language": "de"}
    chosen = client.get("/search?q=storm&lang=fr&k=3", headers=german)
    assert (chosen.status_code, chosen.location) == (303, "/search?q=storm&k=3")
    assert language_of(client.get(chosen.location, headers=german).text)[0] == "fr"
    assert client.get("/search?q=storm&lang=xx").status_code == 400
    assert client.get_cookie("esr_language") and not client.get_cookie("__Host-esr_language")
    # Over TLS, no other host of the domain can set it.
    sent = client.get("/?lang=es", base_url="https://localhost").headers["Set-Cookie"]
    assert re.match(r"__Host-esr_language=es; .*; Secure; HttpOnly; Path=/; SameSite=Lax$", sent)
    assert language_of(client.get("/", base_url="https://localhost").text)[0] == "es"


def test_the_menu_returns_to_the_page_in_the_language(client: FlaskClient) -> None:
    html = client.get("/search?q=a%26b&k=3").text
    assert '<button form="language" name="lang" value="ar" lang="ar" dir="rtl">العربية</button>' in html
    menu = re.search(r'<form id="language" method="post" action="([^"]+)"', html)
    assert menu
    chosen = client.post(menu[1], data={"lang": "ar"})
    assert (chosen.status_code, chosen.location) == (303, "/search?q=a%26b&k=3")
    assert language_of(client.get("/").text) == ("ar", "rtl")
    assert client.post(menu[1], data={"lang": "xx"}).status_code == 404


def test_the_menu_of_a_page_that_only_a_form_leads_to_returns_to_the_first_page(client: FlaskClient) -> None:
    for path, back in (
        ("/save/clippings", "/"),
        ("/dossiers", "/dossiers"),
        ("/save?id=a", "/save%3Fid%3Da"),
    ):
        html = client.post(path, headers={"Accept": "text/html"}).text
        assert f'action="/language?next={back}"' in html


def test_a_choice_never_leads_to_another_host(client: FlaskClient) -> None:
    for path in ("//example.org/?lang=de", "/%2Fexample.org?lang=de", "/\\example.org?lang=de"):
        location = client.get(path).location
        assert location is None or re.match(r"/(?![/\\])", location), location
    for path in ("//example.org", "/%5Cexample.org", "https:x.org"):
        assert client.post(f"/language?next={path}", data={"lang": "de"}).location == "/"


def test_the_server_has_a_default_language() -> None:
    searcher = Searcher(FakeIndex(STORM))
    client = create_app(searcher, Settings(language="es")).test_client()
    assert language_of(client.get("/", headers={"Accept-Language": "it"}).text)[0] == "es"
    with pytest.raises(UsageError, match="ESR_LANGUAGE"):
        create_app(searcher, Settings(language="tlh"))


def test_the_api_is_in_english_whatever_the_browser_accepts(client: FlaskClient) -> None:
    def message(language: str) -> str:
        answer = client.get("/api/v1/search?k=none", headers={"Accept-Language": language})
        return str(answer.json and answer.json["error"]["message"])

    assert message("de") == message("en")
