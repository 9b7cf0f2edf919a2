"""The style sheet, held to what it promises: nothing from elsewhere, and colours that can be read."""

from __future__ import annotations

import gzip
import re
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, quote_from_bytes, urlencode, urlsplit

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import webui
from esr import models
from esr.errors import EngineUnreachable
from esr.index.filters import Filters
from esr.index.hits import SentenceRecord
from esr.ranking.searcher import Searcher
from tests.support.fake_index import FLOOD, STORM, FakeIndex, many
from webui.app import create_app
from webui.running.settings import Settings

ONE_CLIENT = settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


class Page(HTMLParser):
    """What a page is made of: its tags with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts = ""
        self.selected: dict[str, str] = {}
        self._select = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag == "select":
            self._select = attributes["id"] or ""
        if tag == "option" and "selected" in attributes:
            self.selected[self._select] = attributes.get("value") or ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.cdata_elem:
            self.scripts += data

    @property
    def shape(self) -> set[tuple[str, ...]]:
        """Its tags with the names of their attributes."""
        return {(tag, *sorted(attributes)) for tag, attributes in self.tags}

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def get(client: FlaskClient, address: str, status: int = 200) -> Page:
    response = client.get(address)
    assert response.status_code == status, response.text
    assert response.mimetype == "text/html"
    return Page(response.text)


def client_over(*records: SentenceRecord, settings: Settings | None = None) -> FlaskClient:
    return create_app(Searcher(FakeIndex(*records)), settings).test_client()


@pytest.mark.slow
def test_the_first_page_has_a_query_box_and_says_what_it_searches(client: FlaskClient) -> None:
    page = get(client, "/")
    assert "2 sentences of 2 documents" in page.text
    assert page.all("form")[0]["action"] == "/search"
    assert next(i for i in page.all("input") if i["name"] == "q")["type"] == "search"


@pytest.mark.slow
def test_the_first_page_works_without_the_engine(client: FlaskClient, index: FakeIndex) -> None:
    index.error = EngineUnreachable("http://inside:9200 timed out")
    page = get(client, "/")
    assert "is not responding at the moment" in page.text
    assert "inside" not in page.text


def test_another_try_leads_to_the_same_page_below_the_prefix_of_a_proxy(index: FakeIndex) -> None:
    client = create_app(Searcher(index), Settings(access_log=0, proxies=1)).test_client()
    index.error = EngineUnreachable("down")
    headers = {"X-Forwarded-Prefix": "/news"}
    assert '<a href="/news/search?q=storm">Try again' in client.get("/search?q=storm", headers=headers).text
    sent = client.post("/check", data={"text": "“the storm took it”"}, headers={"Accept": "text/html"})
    assert sent.status_code == 503 and "Try again</a>" not in sent.text


@pytest.mark.slow
def test_a_result_has_the_sentence_its_neighbours_and_its_source(client: FlaskClient) -> None:
    html = client.get("/search?q=storm").text
    assert "The <mark>storms</mark> damaged forty houses." in html
    page = Page(html)
    for shown in (STORM.previous, STORM.next, STORM.title, STORM.source, "5 March 2017", "2 sentences"):
        assert shown and shown in page.text
    outside = {"class": "outside", "href": STORM.url, "rel": "noopener noreferrer external"}
    assert outside in page.all("a")
    articles = [(a["data-sentence-id"], a["tabindex"]) for a in page.all("article")]
    assert articles == [("a.s1", "-1"), ("b.s0", "-1")]
    assert [li["id"] for li in page.all("li") if "id" in li] == ["hit-1", "hit-2"]


@pytest.mark.slow
def test_the_first_sentence_of_a_document_has_no_neighbour_before_it(client: FlaskClient) -> None:
    page = get(client, "/search?q=flood")
    assert "None" not in page.text
    assert not [p for p in page.all("p") if p.get("class") == "near"]


@pytest.mark.slow
def test_unseen_words_are_listed_as_they_were_typed(client: FlaskClient) -> None:
    page = get(client, "/search?q=storm+Glorfings")
    assert "No sentence has Glorfings. These are without it." in page.text


@pytest.mark.slow
def test_a_page_without_results_says_so(client: FlaskClient) -> None:
    page = get(client, "/search?q=blorf+snark")
    assert "No sentences found" in page.text
    assert "No sentence has blorf, snark." in page.text


@pytest.mark.slow
def test_what_is_not_there_cannot_be_downloaded(client: FlaskClient) -> None:
    assert "TREC run" in get(client, "/search?q=storm").text
    assert "TREC run" not in get(client, "/search?q=blorf").text


@pytest.mark.slow
def test_sorting_by_date_says_what_was_sorted() -> None:
    many_more = client_over(*many(300), FLOOD)
    page = get(many_more, "/search?q=storm+number&sort=date").text
    assert "300 sentences with all words" in page and "Order Newest first" in page
    assert "Order Best first" in get(many_more, "/search?q=storm&passages=no").text


@pytest.mark.slow
def test_only_what_is_new_is_listed_with_how_often_it_was_repeated() -> None:
    stories = [
        STORM._replace(
            sentence_id="s2", date="2017-03-07", text="The storms damaged forty houses, she said."
        ),
        STORM._replace(sentence_id="s1", date="2017-03-06"),
        STORM._replace(sentence_id="s3", date="2017-03-08", text="No storm of that strength was expected."),
        FLOOD,
    ]
    client = client_over(*stories)
    page = get(client, "/search?q=storm&novel=yes&overlap=0.6").text
    assert "3 of 4 sentences with all words" in page
    assert "Only what is new the same from the oldest on, without repeats" in page
    assert page.index("damaged forty") < page.index("strength was") < page.index("came a flood")
    assert "The same in 1 more" in page
    one = get(client, "/search?q=storm&novel=yes&overlap=0.6&k=1").text
    assert "1 so far of 4 sentences with all words" in one
    assert "and 1 similar" not in get(client, "/search?q=storm&novel=yes").text


@pytest.mark.slow
def test_a_share_that_makes_no_repeat_is_refused(client: FlaskClient) -> None:
    page = client.get("/search?q=storm&overlap=0.2")
    assert page.status_code == 400
    assert "overlap must be from 0.5 to 1, not 0.2" in page.text


@pytest.mark.slow
def test_a_filtered_search_without_results_links_to_one_without_filters() -> None:
    page = get(client_over(STORM), "/search?q=flood&source=x&from=2017&params.mu=5")
    links = [dict(parse_qsl(urlsplit(str(a["href"])).query)) for a in page.all("a")]
    assert {"q": "flood", "params.mu": "5"} in links


@pytest.mark.slow
def test_an_incomplete_answer_has_a_banner(client: FlaskClient, index: FakeIndex) -> None:
    assert "incomplete" not in get(client, "/search?q=storm").text
    index.incomplete = "1 of 3 shards failed"
    page = get(client, "/search?q=storm")
    assert "This answer is incomplete" in page.text
    assert "Sentences may be missing: 1 of 3 shards failed." in page.text


@pytest.mark.slow
def test_more_sentences_can_be_shown_up_to_the_limit() -> None:
    client = client_over(*many(40), settings=Settings(max_k=25))

    def more(address: str) -> list[str]:
        return [str(a["href"]) for a in get(client, address).all("a") if "#hit-" in str(a["href"])]

    assert more("/search?q=storm&passages=no") == ["/search?q=storm&passages=no&k=20#hit-11"]
    assert more("/search?q=storm&passages=no&k=20") == ["/search?q=storm&passages=no&k=25#hit-21"]
    assert more("/search?q=storm&k=25") == []


@pytest.mark.slow
def test_neighbours_are_one_entry_and_the_rest_of_a_document_is_a_link() -> None:
    places = [3, 4, 8, 12]
    client = client_over(
        *(STORM._replace(sentence_id=f"s{n}", position=n, text=f"A storm, number {n}.") for n in places)
    )
    page = get(client, "/search?q=storm&fold=no")
    assert count_hits(page) == 1
    assert len([p for p in page.all("p") if "also" in str(p.get("class")).split()]) == 1
    assert "2 more sentences here" in page.text
    document = STORM.document_id
    assert any(f"document={document}" in str(a["href"]) for a in page.all("a") if "search" in str(a["href"]))
    assert count_hits(get(client, "/search?q=storm&fold=no&per_document=all")) == 3
    assert count_hits(get(client, "/search?q=storm&fold=no&per_document=all&passages=no")) == 4


def count_hits(page: Page) -> int:
    return len([item for item in page.all("li") if "hit-" in str(item.get("id"))])


@pytest.mark.slow
def test_the_address_and_the_form_have_all_of_the_state(client: FlaskClient) -> None:
    address = "/search?q=storm&model=dir&from=2017-03-01&source=a&source=b&params.mu=50&k=5"
    page = get(client, address)
    assert (page.selected["model"], page.selected["context"], page.selected["k"]) == ("dir", "", "5")
    boxes = [i for i in page.all("input") if i.get("type") != "checkbox" or "checked" in i]
    filled = [(i["name"], i["value"]) for i in boxes if i.get("value")]
    state = [
        ("q", "storm"),
        ("fold", "yes"),
        ("source", "a"),
        ("source", "b"),
        ("form", "dir"),
        ("params.mu", "50"),  # of dir, and of each model that has one: those are off
        *[("params.mu", "50")]
        * (sum("mu" in {p.name for p in m.parameters} for m in models.MODELS.values()) - 1),
        ("after", "2017-03-01"),  # in the rail, by its name of today
    ]
    assert filled[: len(state)] == state
    exported = {*filled[len(state) :]}  # by the form of the export
    assert {("q", "storm"), ("source", "a"), ("source", "b"), ("model", "dir"), ("fields", "text")} <= {
        *exported
    }


@pytest.mark.slow
def test_the_selects_offer_what_is_registered(client: FlaskClient) -> None:
    offered = [o["value"] for o in get(client, "/").all("option")]
    first = offered.index(next(iter(models.MODELS)))
    assert offered[first : first + len(models.MODELS)] == list(models.MODELS)
    assert set(models.CONTEXTS) <= set(offered)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arguments", "endpoint", "function", "self", "period", "class", "a b"])
def test_an_unknown_argument_is_named_whatever_it_is_called(client: FlaskClient, name: str) -> None:
    refused = client.get("/search", query_string={"q": "storm", name: "1"})
    assert refused.status_code == 400 and f"Unknown argument {name!r}" in unescape(refused.text)


def test_the_arguments_of_the_address_reach_the_index(client: FlaskClient, index: FakeIndex) -> None:
    client.get("/search.json?q=storm&k=3&fold=no&passages=no&source=x&document=a&candidates=all")
    assert index.last_search is not None
    plan, k, filters = index.last_search
    assert (plan.candidates, k, filters) == ("all", 3, Filters(sources=("x",), documents=("a",)))


@pytest.mark.slow
def test_the_json_has_the_same_sentences(client: FlaskClient) -> None:
    answer = client.get("/search.json?q=storm").json
    assert answer is not None
    assert [hit["sentence_id"] for hit in answer["hits"]] == ["a.s1", "b.s0"]
    assert (answer["total"], answer["unseen"], answer["incomplete"]) == (2, [], None)
    twin = [a["href"] for a in get(client, "/search?q=storm&k=5").all("a") if ".json?" in str(a["href"])]
    assert twin == ["/search.json?q=storm&k=5"]


@pytest.mark.slow
def test_a_health_check_does_not_ask_the_engine(client: FlaskClient, index: FakeIndex) -> None:
    index.error = EngineUnreachable("down")
    assert client.get("/healthz").json == {"status": "ok"}


@pytest.mark.slow
def test_a_page_has_no_inline_script_or_style_and_nothing_from_elsewhere(client: FlaskClient) -> None:
    for address in ("/", "/search?q=storm", "/search?q=blorf", "/search?q=the", "/nowhere"):
        page = Page(client.get(address).text)
        assert not page.scripts and not page.all("style")
        assert all(str(script["src"]).startswith("/static/") for script in page.all("script"))
        assert not [a for _, a in page.tags for name in a if name == "style" or name.startswith("on")]
        paths = [str(link["href"]) for link in page.all("link")]
        assert paths and all(path.startswith(("/static/", "/search.atom?")) for path in paths)
        for path in paths:
            with client.get(path) as file:
                assert file.status_code == 200


@pytest.mark.slow
def test_every_control_has_a_label(client: FlaskClient) -> None:
    page = get(client, "/search?q=storm&params.mu=50")
    labelled = {label["for"] for label in page.all("label") if "for" in label}
    inputs = [c for tag in ("input", "select") for c in page.all(tag)]
    controls = [
        c for c in inputs if c.get("type") not in ("checkbox", "hidden", "radio")
    ]  # checkboxes and radio buttons are inside their labels
    assert {c["id"] for c in controls} == labelled
    assert len(labelled) == len(controls)


# These change what a page makes of the others: an address, a link, an attribute.
ALONE = ["document_id", "sentence_id", "url", "language"]
TEXT_FIELDS = [name for name in SentenceRecord._fields if name not in ("position", "features", "entities")]
ANNOTATED = STORM._replace(
    text="A storm.", section="Sport", features={"subj": 1.0, "len": 2.0}, entities={"person": ["Ann"]}
)
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    '" onclick="x',
    "javascript:alert(1)",
    "{{ 7777*7777 }}",
    "\ud800",
    "\u202e",
    "\x00",
]


def with_text(fields: list[str], text: str) -> SentenceRecord:
    odd: dict[str, Any] = {"features": {text: 1.0}, "entities": {"person": [text]}, "text": f"storm {text}"}
    return ANNOTATED._replace(**cast(Any, {field: odd.get(field, text) for field in fields}))


def pages(record: SentenceRecord) -> list[str]:
    """The addresses that show the sentence."""
    query = {"q": "storm"}
    arguments = [
        ("/search", query),
        ("/search", query | {"group": "document"}),
        ("/compare", query | {"vs.model": "bm25"}),
        ("/document", query | {"id": record.document_id}),
        ("/explain", query | {"id": record.sentence_id}),
    ]
    return [f"{path}?{urlencode(values, errors='replace')}" for path, values in arguments]


def check_escaped(client: FlaskClient, index: FakeIndex, fields: list[str], text: str) -> None:
    """With the text in them no page has a kind of tag or attribute that harmless text would not make."""
    for url in (STORM.url, None) if "title" in fields else (STORM.url,):  # a title is a link or not
        if url not in HARMLESS:
            index.records = [ANNOTATED._replace(url=url)]
            HARMLESS[url] = [get(client, address).shape for address in pages(ANNOTATED)]
        index.records = [
            with_text(fields, text) if "url" in fields else with_text(fields, text)._replace(url=url)
        ]
        for address, shape in zip(pages(index.records[0]), HARMLESS[url], strict=True):
            response = client.get(address)
            # An id that an address cannot say is an error on the pages of that id.
            assert response.status_code == 200 or (
                fields[0].endswith("_id") and response.status_code in (400, 404)
            )
            page = Page(response.text)
            if response.status_code == 200:
                assert page.shape - {("mark",)} <= shape | MAYBE
            assert not page.scripts and "60481729" not in page.text  # as code
            for a in page.all("a"):
                assert str(a["href"]).lower().startswith(("http", "/", "#"))


HARMLESS: dict[str | None, list[set[tuple[str, ...]]]] = {}
"""The shapes of the pages with harmless text, made once."""
MAYBE = {
    ("a", "class", "href", "rel"),  # an address that is one
    ("h1", "dir", "lang"),
    ("input", "id", "name", "placeholder", "type", "value"),  # days in the settings: no date can be read
}


FIELDS = [*TEXT_FIELDS, "features", "entities"]
TOGETHER = [field for field in FIELDS if field not in ALONE]


@pytest.mark.slow
@pytest.mark.parametrize("fields", [*([field] for field in ALONE), TOGETHER], ids="-".join)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_any_field_of_a_sentence_is_escaped(
    client: FlaskClient, index: FakeIndex, fields: list[str], text: str
) -> None:
    check_escaped(client, index, fields, text)


@pytest.mark.slow
@ONE_CLIENT
@given(st.sampled_from(FIELDS), st.text(min_size=1))
def test_any_text_in_any_field_of_a_sentence_is_escaped(
    client: FlaskClient, index: FakeIndex, field: str, text: str
) -> None:
    check_escaped(client, index, [field], text)


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_a_message_of_the_engine_is_escaped(
    client: FlaskClient, index: FakeIndex, text: str
) -> None:
    index.incomplete = text
    page = get(client, "/search?q=storm")
    assert not page.scripts and not page.all("img")


@pytest.mark.slow
def test_hostile_text_in_an_error_is_escaped(client: FlaskClient) -> None:
    for address in ("/search?q=x&<script>=1", "/search?q=x&model=<script>", "/<script>"):
        response = client.get(address)
        assert response.status_code in (400, 404)
        assert not Page(response.text).scripts


@pytest.mark.slow
@ONE_CLIENT
@given(st.text(max_size=200))
@example("</title><script>")
@example('" autofocus onfocus="alert(1)')
def test_any_query_is_escaped(client: FlaskClient, query: str) -> None:
    response = client.get("/search", query_string={"q": "storm " + query.encode(errors="ignore").decode()})
    assert response.status_code in (200, 400)
    page = Page(response.text)
    harmless = ("storm", "the", "+storm -x the -", "+storm -storm")  # found, refused, with syntax, not found
    pages = [client.get("/search", query_string={"q": each}) for each in harmless]
    allowed = [tag for each in pages for tag in Page(each.text).tags]
    known = {(tag, *sorted(attributes)) for tag, attributes in allowed}
    assert {(tag, *sorted(a)) for tag, a in page.tags} - {("strong",), ("p", "class")} <= known


@pytest.mark.slow
@ONE_CLIENT
@given(
    st.sampled_from(
        ["/", "/search", "/search.json", "/document", "/explain.json", "/compare", "/batch", "/healthz"]
    ),
    st.binary(max_size=80),
)
@example("/search", b"q=storm&k=%00")
@example("/search", b"q=" + b"storm " * 200)
def test_no_bytes_in_an_address_make_the_server_fail(client: FlaskClient, path: str, raw: bytes) -> None:
    for query in (raw, b"q=storm&" + raw, b"q=" + raw, quote_from_bytes(b"q=" + raw, "=&%").encode()):
        response = client.get(path, environ_overrides={"QUERY_STRING": query.decode("latin-1")})
        assert response.status_code < 500, query


@pytest.mark.slow
@pytest.mark.parametrize(
    "query", ["x" * 1_000_000, " ".join(f"w{n}" for n in range(10_000)), "a\x00b", "\u202eabc"]
)
def test_a_hostile_query_gets_a_clear_answer(client: FlaskClient, query: str) -> None:
    response = client.get("/search", query_string={"q": query})
    assert response.status_code == 400
    assert len(response.data) < 100_000
    error = client.get("/search.json", query_string={"q": query}).json
    assert error is not None and error["error"]["code"] == "bad_input"


@pytest.mark.slow
def test_a_bad_setting_keeps_the_form_and_offers_the_search_without_it(client: FlaskClient) -> None:
    page = get(client, "/search?q=storm&model=bm25&context=both", 400)
    assert "leave out context" in page.text
    assert "open" in next(each for each in page.all("details") if each["class"] == "controls")
    assert "/search?q=storm&model=bm25" in [a["href"] for a in page.all("a")]
    assert (page.selected["model"], page.selected["context"], page.selected["k"]) == ("bm25", "both", "10")


@pytest.mark.slow
def test_a_query_of_stop_words_is_reported_at_the_box(client: FlaskClient) -> None:
    page = get(client, "/search?q=the+and", 400)
    assert "only stop words" in page.text
    box = next(i for i in page.all("input") if i["name"] == "q")
    assert (box["value"], box["aria-describedby"]) == ("the and", "problem")


@pytest.mark.slow
def test_the_title_of_the_page_is_the_query(client: FlaskClient) -> None:
    assert f"<title>{escape('storm & <b>')} – esr</title>" in client.get("/search?q=storm+%26+<b>").text


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
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "private, no-cache"


def test_answers_over_tls_ask_for_tls_from_then_on(client: FlaskClient, index: FakeIndex) -> None:
    strict = "Strict-Transport-Security"
    for path in ("/search?q=storm", "/nowhere"):
        answer = client.get(path, base_url="https://localhost")
        assert answer.headers[strict] == "max-age=31536000; includeSubDomains"
        assert strict not in client.get(path).headers
    claimed = {"X-Forwarded-Proto": "https"}  # of a proxy that is not trusted
    assert strict not in client.get("/healthz", headers=claimed).headers
    other = create_app(Searcher(index), Settings(access_log=0, hsts=0)).test_client()  # type: ignore[arg-type]
    assert strict not in other.get("/healthz", base_url="https://localhost").headers


@pytest.mark.parametrize("path", ["/?lang=de&\xff", "/search?q=storm&lang=de&\xb1=1", "/language?next=\xff"])
def test_an_address_that_is_not_utf_8_is_a_bad_request(client: FlaskClient, path: str) -> None:
    path, _, query = path.partition("?")
    method = "POST" if path == "/language" else "GET"
    raw = {"QUERY_STRING": query}  # as servers hand it on: bytes as Latin-1
    answer = client.open(path, method=method, data={"lang": "de"}, environ_overrides=raw)
    assert (answer.status_code, answer.mimetype) == (400, "text/html")
    assert "not valid UTF-8" in answer.text


def test_static_files_can_be_cached(client: FlaskClient) -> None:
    with client.get("/static/esr.css") as answer:
        assert "max-age" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", PATHS)
def test_no_header_comes_twice(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        names = [name.lower() for name, _ in answer.headers]
    assert sorted(names) == sorted(set(names))


STYLE = "".join(
    (Path(webui.__file__).parent / "static" / name).read_text("utf-8")
    for name in ("esr.css", "hits.css", "views.css")
)
ROOTS = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in STYLE.split(":root {")[1:3]]
SCHEMES = dict(zip(["light", "dark"], ROOTS, strict=True))
PAIRS = [
    *[(text, ground) for text in ("ink", "quiet", "accent") for ground in ("paper", "raised")],
    ("ink", "tint"),
]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_can_be_read_on_its_ground(scheme: str) -> None:
    colours = SCHEMES[scheme]
    for text, ground in PAIRS:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert contrast("#ffffff", colours["button"]) >= 4.5
    assert contrast(colours["edge"], colours["paper"]) >= 3.0


def test_the_styles_take_nothing_from_elsewhere() -> None:
    static = Path(webui.__file__).parent / "static"
    styles = [path.read_text("utf-8").replace('url("#', "") for path in static.glob("*.css")]  # but patterns
    assert len(styles) > 2 and not any("url(" in style or "@import" in style for style in styles)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/search?q=earthquake+relief+China&k=10",
        "/search?q=earthquake+relief+China&group=document",
        "/compare?q=earthquake&vs.model=bm25",
        "/document?id=earthquake-relief&q=earthquake",
        *(f"/{view}?q=relief" for view in ("timeline", "concordance", "names", "quotes", "collocations")),
    ],
)
def test_a_page_with_its_styles_and_scripts_takes_sixty_kilobytes_at_most(
    real: FlaskClient, path: str
) -> None:
    page = get(real, path)
    linked = [link["href"] for link in page.all("link") if link["rel"] in ("stylesheet", "icon")]
    addresses = [path, *linked, *(script["src"] for script in page.all("script"))]
    assert len(addresses) > 4
    sizes = {}
    for address in map(str, addresses):
        with real.get(address) as answer:
            assert answer.status_code == 200
            sizes[address] = len(gzip.compress(answer.data))
    assert sum(sizes.values()) < 60_000, sizes


def test_the_style_minds_the_dark_the_narrow_and_the_printer() -> None:
    for media in ("prefers-color-scheme: dark", "max-width", "print", "forced-colors"):
        assert f"@media ({media}" in STYLE or f"@media {media}" in STYLE
