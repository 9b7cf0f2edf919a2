from __future__ import annotations

from dataclasses import fields, replace
from html import escape
from html.parser import HTMLParser
from typing import Any, cast
from urllib.parse import parse_qsl, quote_from_bytes, urlsplit

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from esr import models
from esr.engines.index import Filters, SentenceRecord
from esr.errors import EngineUnreachable
from esr.ranking.searcher import Searcher
from tests.webui.fake_index import STORM, FakeIndex, many
from webui.app import create_app
from webui.settings import Settings

ONE_CLIENT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


class Page(HTMLParser):
    """What a page is made of: its tags with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def get(client: FlaskClient, address: str, status: int = 200) -> Page:
    response = client.get(address)
    assert response.status_code == status, response.text
    assert response.mimetype == "text/html"
    return Page(response.text)


def client_over(*records: SentenceRecord, settings: Settings | None = None) -> FlaskClient:
    return create_app(Searcher(FakeIndex(*records)), settings).test_client()


def test_the_first_page_has_a_query_box_and_says_what_is_searched(client: FlaskClient) -> None:
    page = get(client, "/")
    assert "2 sentences of 2 documents" in page.text
    assert page.all("form")[0]["action"] == "/search"
    assert next(i for i in page.all("input") if i["name"] == "q")["type"] == "search"


def test_the_first_page_stays_when_the_engine_does_not_answer(client: FlaskClient, index: FakeIndex) -> None:
    index.error = EngineUnreachable("http://inside:9200 timed out")
    page = get(client, "/")
    assert "does not answer at the moment" in page.text
    assert "inside" not in page.text


def test_a_result_shows_the_sentence_its_neighbours_and_where_it_is_from(client: FlaskClient) -> None:
    html = client.get("/search?q=storm").text
    assert "The <mark>storms</mark> damaged forty houses." in html
    page = Page(html)
    for shown in (STORM.previous, STORM.next, STORM.title, STORM.source, "5 March 2017", "2 sentences"):
        assert shown and shown in page.text
    assert {"href": STORM.url, "rel": "noopener noreferrer external"} in page.all("a")
    assert [li["id"] for li in page.all("li")] == ["hit-1", "hit-2"]


def test_at_the_border_of_a_document_there_is_no_neighbour(client: FlaskClient) -> None:
    page = get(client, "/search?q=flood")
    assert "None" not in page.text
    assert not [p for p in page.all("p") if p.get("class") == "near"]


def test_unseen_words_are_named_as_they_were_written(client: FlaskClient) -> None:
    page = get(client, "/search?q=storm+Glorfings")
    assert "This word is in no document:" in page.text
    assert "Glorfings" in page.text


def test_nothing_found_is_a_page_that_says_so(client: FlaskClient) -> None:
    page = get(client, "/search?q=blorf+snark")
    assert "Nothing was found" in page.text
    assert "These words are in no document" in page.text


def test_nothing_found_within_filters_leads_to_the_search_without_them() -> None:
    page = get(client_over(STORM), "/search?q=flood&source=x&from=2017&params.mu=5")
    link = next(a["href"] for a in page.all("a") if "params.mu" in (a["href"] or ""))
    assert dict(parse_qsl(urlsplit(str(link)).query)) == {"q": "flood", "params.mu": "5"}


def test_an_incomplete_answer_has_a_banner(client: FlaskClient, index: FakeIndex) -> None:
    assert "not complete" not in get(client, "/search?q=storm").text
    index.incomplete = "1 of 3 shards failed"
    page = get(client, "/search?q=storm")
    assert "This answer is not complete" in page.text
    assert "1 of 3 shards failed" in page.text


def test_more_can_be_shown_up_to_the_limit() -> None:
    client = client_over(*many(40), settings=Settings(max_k=25))

    def more(address: str) -> list[str]:
        return [str(a["href"]) for a in get(client, address).all("a") if "#hit-" in str(a["href"])]

    assert more("/search?q=storm&source=x") == ["/search?q=storm&source=x&k=20#hit-11"]
    assert more("/search?q=storm&k=20") == ["/search?q=storm&k=25#hit-21"]
    assert more("/search?q=storm&k=25") == []


def test_the_whole_state_is_in_the_address_and_in_the_form(client: FlaskClient) -> None:
    address = "/search?q=storm&model=dir&from=2017-03-01&source=a&source=b&params.mu=50&k=5"
    page = get(client, address)
    chosen = [o["value"] for o in page.all("option") if "selected" in o]
    assert chosen == ["dir", "", "5"]
    held = [(i["name"], i["value"]) for i in page.all("input") if i["value"]]
    assert held == [
        ("q", "storm"),
        ("from", "2017-03-01"),
        ("source", "a"),
        ("source", "b"),
        ("params.mu", "50"),
    ]


def test_the_selects_offer_what_the_registry_holds(client: FlaskClient) -> None:
    offered = [o["value"] for o in get(client, "/").all("option")]
    assert offered[: len(models.MODELS)] == list(models.MODELS)
    assert set(models.CONTEXTS) <= set(offered)


def test_what_the_address_asks_for_reaches_the_index(client: FlaskClient, index: FakeIndex) -> None:
    client.get("/search.json?q=storm&k=3&source=x&document=a&candidates=all")
    assert index.asked is not None
    plan, k, filters = index.asked
    assert (plan.candidates, k, filters) == ("all", 3, Filters(sources=("x",), documents=("a",)))


def test_the_json_twin_holds_the_same_sentences(client: FlaskClient) -> None:
    answer = client.get("/search.json?q=storm").json
    assert answer is not None
    assert [hit["sentence_id"] for hit in answer["hits"]] == ["a.s1", "b.s0"]
    assert (answer["total"], answer["unseen"], answer["incomplete"]) == (2, [], None)
    twin = [a["href"] for a in get(client, "/search?q=storm&k=5").all("a") if ".json" in str(a["href"])]
    assert twin == ["/search.json?q=storm&k=5"]


def test_the_server_says_that_it_is_alive_without_asking_the_engine(
    client: FlaskClient, index: FakeIndex
) -> None:
    index.error = EngineUnreachable("down")
    assert client.get("/healthz").json == {"status": "ok"}


def test_a_page_holds_no_script_no_inline_style_and_nothing_from_elsewhere(client: FlaskClient) -> None:
    for address in ("/", "/search?q=storm", "/search?q=blorf", "/search?q=the", "/nowhere"):
        page = Page(client.get(address).text)
        assert not page.all("script") and not page.all("style")
        assert not [a for _, a in page.tags for name in a if name == "style" or name.startswith("on")]
        taken = [str(link["href"]) for link in page.all("link")]
        assert taken and all(path.startswith("/static/") for path in taken)
        for path in taken:
            with client.get(path) as file:
                assert file.status_code == 200


def test_every_control_has_a_label(client: FlaskClient) -> None:
    page = get(client, "/search?q=storm&params.mu=50")
    named = {label["for"] for label in page.all("label") if "for" in label}
    controls = [c for tag in ("input", "select") for c in page.all(tag) if c.get("type") != "checkbox"]
    assert {c["id"] for c in controls} == named


TEXT_FIELDS = [f.name for f in fields(SentenceRecord) if f.name != "position"]
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    '" onclick="x',
    "javascript:alert(1)",
    "{{ 7*7 }}",
    "\ud800",
    "\u202e",
    "\x00",
]


def check_escaped(client: FlaskClient, index: FakeIndex, field: str, text: str) -> None:
    """A page with the text in the field has no tag and no attribute that a harmless page has not."""
    record = replace(STORM, text="A storm.")
    index.records = [record]
    harmless = get(client, "/search?q=storm").tags
    for url in (STORM.url, None):  # a title is a link or not
        index.records = [replace(record, url=url)]
        hostile = f"storm {text}" if field == "text" else text
        index.records = [replace(index.records[0], **cast(Any, {field: hostile}))]
        page = get(client, "/search?q=storm")
        for tag, attributes in page.tags:
            known = (tag, attributes) in harmless or (tag == "mark" and not attributes)
            assert known or (tag, *attributes) in [("a", "href", "rel"), ("article", "lang"), ("article",)]
            assert tag != "a" or str(attributes["href"]).lower().startswith(("http", "/", "#"))
        assert "49" not in page.text


@pytest.mark.parametrize("field", TEXT_FIELDS)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_any_field_of_a_sentence_comes_out_escaped(
    client: FlaskClient, index: FakeIndex, field: str, text: str
) -> None:
    check_escaped(client, index, field, text)


@ONE_CLIENT
@given(st.sampled_from(TEXT_FIELDS), st.text(min_size=1))
def test_any_text_in_any_field_of_a_sentence_comes_out_escaped(
    client: FlaskClient, index: FakeIndex, field: str, text: str
) -> None:
    check_escaped(client, index, field, text.replace("49", ""))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_the_words_of_the_engine_comes_out_escaped(
    client: FlaskClient, index: FakeIndex, text: str
) -> None:
    index.incomplete = text
    page = get(client, "/search?q=storm")
    assert not page.all("script") and not page.all("img")


def test_hostile_text_in_an_error_comes_out_escaped(client: FlaskClient) -> None:
    for address in ("/search?q=x&<script>=1", "/search?q=x&model=<script>", "/<script>"):
        response = client.get(address)
        assert response.status_code in (400, 404)
        assert not Page(response.text).all("script")


@ONE_CLIENT
@given(st.text(max_size=200))
@example("</title><script>")
@example('" autofocus onfocus="alert(1)')
def test_any_query_comes_out_escaped(client: FlaskClient, query: str) -> None:
    response = client.get("/search", query_string={"q": "storm " + query.encode(errors="ignore").decode()})
    assert response.status_code in (200, 400)
    page = Page(response.text)
    allowed = Page(client.get("/search?q=storm").text).tags + Page(client.get("/search?q=the").text).tags
    known = {(tag, *sorted(attributes)) for tag, attributes in allowed}
    assert {(tag, *sorted(a)) for tag, a in page.tags} - {("strong",), ("p", "class")} <= known


@ONE_CLIENT
@given(st.sampled_from(["/", "/search", "/search.json", "/healthz"]), st.binary(max_size=80))
@example("/search", b"q=storm&k=%00")
@example("/search", b"q=" + b"storm " * 200)
def test_no_bytes_in_the_address_make_the_server_fail(client: FlaskClient, path: str, raw: bytes) -> None:
    for query in (raw, b"q=storm&" + raw, b"q=" + raw, quote_from_bytes(b"q=" + raw, "=&%").encode()):
        response = client.get(path, environ_overrides={"QUERY_STRING": query.decode("latin-1")})
        assert response.status_code < 500, query


@pytest.mark.parametrize(
    "query", ["x" * 1_000_000, " ".join(f"w{n}" for n in range(10_000)), "a\x00b", "\u202eabc"]
)
def test_a_hostile_query_gets_a_clear_answer(client: FlaskClient, query: str) -> None:
    response = client.get("/search", query_string={"q": query})
    assert response.status_code == 400
    assert len(response.data) < 40_000
    error = client.get("/search.json", query_string={"q": query}).json
    assert error is not None and error["error"]["code"] == "bad_input"


def test_a_bad_setting_keeps_the_form_and_offers_the_search_without_it(client: FlaskClient) -> None:
    page = get(client, "/search?q=storm&model=bm25&context=both", 400)
    assert "leave out context" in page.text
    assert "open" in page.all("details")[0]
    assert "/search?q=storm&model=bm25" in [a["href"] for a in page.all("a")]
    assert [o["value"] for o in page.all("option") if "selected" in o] == ["bm25", "both", "10"]


def test_a_query_of_stop_words_is_told_beside_the_box(client: FlaskClient) -> None:
    page = get(client, "/search?q=the+and", 400)
    assert "only stop words" in page.text
    box = next(i for i in page.all("input") if i["name"] == "q")
    assert (box["value"], box["aria-describedby"]) == ("the and", "problem")


def test_the_title_of_the_page_is_the_query(client: FlaskClient) -> None:
    assert f"<title>{escape('storm & <b>')} – esr</title>" in client.get("/search?q=storm+%26+<b>").text
