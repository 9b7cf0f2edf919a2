"""Sentences in other scripts: on every page and in the API with their language, direction and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from re import findall, search
from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.index.contract import Index
from esr.index.factory import open_writer
from esr.index.hits import SentenceRecord
from esr.index.writer import LoadOptions
from esr.query import ParsedQuery
from esr.ranking import searcher as searcher_module
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.attributes import ATTRIBUTES
from tests.support.fake_index import STORM, FakeIndex
from tests.support.folder_index import document, load
from tests.support.page_corpus import get as get_text
from tests.support.page_corpus import post
from webui.app import create_app
from webui.running.settings import Settings

ARABIC = STORM._replace(
    text="Panthers هو فريق في العالَم.",
    previous="هذا قبله.",
    next="وهذا بعده.",
    title="عنوان",
    language="ar",
)
CHINESE = STORM._replace(
    text="中国经济增长很快。", previous="以前。", next=None, title=None, language="zh-Hans"
)
UNKNOWN = STORM._replace(language=None)
PAGES = {
    "results": "/search?q={}",
    "grouped": "/search?q={}&group=document",
    "document": "/document?id=a&q={}",
    "explain": "/explain?id=a.s1&q={}",
    "compare": "/compare?q={}&vs.model=bm25",
}


def client_over(record: SentenceRecord, analyzer: str) -> FlaskClient:
    return create_app(Searcher(FakeIndex(record, analyzer=analyzer))).test_client()  # type: ignore[arg-type]


def html_of(record: SentenceRecord, analyzer: str, page: str, query: str) -> str:
    response = client_over(record, analyzer).get(PAGES[page].format(query))
    assert response.status_code == 200, response.text
    return response.text


class Texts(HTMLParser):
    """The texts of a page less its title, each with the language and the direction that it inherits."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.all: list[tuple[str, str, str]] = []
        self._inherited = [("", "")]
        self.feed(html)
        assert len(self._inherited) == 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("br", "input", "link", "meta"):
            lang, dir = self._inherited[-1]
            attributes = dict(attrs)
            self._inherited.append((attributes.get("lang", lang) or "", attributes.get("dir", dir) or ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None: ...

    def handle_endtag(self, tag: str) -> None:
        self._inherited.pop()

    def handle_data(self, data: str) -> None:
        if data.strip() and self.lasttag != "title":
            self.all.append((data.strip(), *self._inherited[-1]))


def inherited(html: str, pattern: str) -> set[tuple[str, str]]:
    """The languages and directions of the texts that a pattern matches."""
    found = {(lang, dir) for text, lang, dir in Texts(html).all if search(pattern, text)}
    assert found, pattern
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_texts_of_a_document_have_its_language_and_direction_and_no_others_have(page: str) -> None:
    html = html_of(ARABIC, "arabic", page, "world العالم")
    assert inherited(html, "هو فريق|عنوان|العالَم") == {("ar", "rtl")}
    assert inherited(html, "^(In its document|Why|Score|score|Original article|Settings|JSON)") <= {
        ("en", ""),
        ("en", "ltr"),
    }
    assert "<mark>العالَم</mark>." in html


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_language_that_is_not_known_is_not_that_of_the_page(page: str) -> None:
    assert inherited(html_of(UNKNOWN, "english-stem", page, "houses"), "^The storms") == {("", "auto")}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_first_words_in_place_of_a_title_have_the_language_of_the_document(page: str) -> None:
    html = html_of(CHINESE, "multilingual", page, "经济")
    assert inherited(html, "^中国") == {("zh-Hans", "ltr")}


@pytest.mark.slow
def test_neighbours_are_in_the_language_of_the_sentence() -> None:
    html = html_of(ARABIC, "arabic", "results", "العالم")
    assert inherited(html, "هذا") == {("ar", "rtl")}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_chinese_bigrams_that_follow_each_other_are_one_mark(page: str) -> None:
    html = html_of(CHINESE, "multilingual", page, "经济增长")
    assert "中国<mark>经济增长</mark>很快。" in html


@pytest.mark.slow
def test_an_explanation_shows_the_words_of_an_acronym_and_of_bigrams() -> None:
    record = STORM._replace(text="The U.S. troops left.")
    html = html_of(record, "english-stem", "explain", "US troops of the U.S.")
    assert '<th scope="row"><bdi>US</bdi></th>' in html
    html = html_of(record, "english-stem", "explain", "U.S. troops")
    assert '<th scope="row"><bdi>U.S.</bdi></th>' in html
    html = html_of(CHINESE, "multilingual", "explain", "经济增长")
    assert all(f'<th scope="row"><bdi>{word}</bdi></th>' in html for word in ("经济", "济增", "增长"))


@pytest.mark.slow
def test_words_that_no_document_contains_are_whole_in_any_script() -> None:
    html = html_of(CHINESE, "multilingual", "results", "中国熊猫")
    assert "<strong><bdi>熊猫</bdi></strong>." in html
    html = html_of(STORM, "english-stem", "results", "storms in the U.A.E. of Beyonce%CC%81")
    assert "<strong><bdi>U.A.E.</bdi></strong>, <strong><bdi>Beyonce\u0301</bdi></strong>." in html


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "analyzer", "query", "expected"),
    [
        (ARABIC, "arabic", "العالم", ("ar", "rtl")),
        (CHINESE, "multilingual", "经济", ("zh-Hans", "ltr")),
        (UNKNOWN, "english-stem", "houses", (None, "auto")),
    ],
)
def test_answers_of_the_api_name_the_language_and_its_direction(
    record: SentenceRecord, analyzer: str, query: str, expected: tuple[str | None, str]
) -> None:
    client = client_over(record, analyzer)
    sides = get_text(client, "/compare", q=query, vs__model="bm25")
    answers: list[Any] = [
        get_text(client, "/search", q=query)["hits"][0],
        get_text(client, "/document", id="a", q=query),
        get_text(client, "/explain", id="a.s1", q=query),
        sides["left"]["hits"][0],
        sides["right"]["hits"][0],
    ]
    assert [(answer["language"], answer["direction"]) for answer in answers] == [expected] * 5


@pytest.mark.slow
def test_the_boxes_for_words_and_names_take_the_direction_of_what_is_typed() -> None:
    html = client_over(ARABIC, "arabic").get("/search?q=العالم").text
    html += client_over(ARABIC, "arabic").get("/search?q=%22").text
    for name in ("q", "source", "entity"):
        box = findall(rf'<input id="{name}"[^>]*>', html)[-1]
        assert 'dir="auto"' in box


# Authors, sections, keywords and metadata on the page and in the API: filters, counts, values.


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
    assert "Sections SPORT Without SPORT – 2" in text and "Authors Jane Doe" in text and "Keywords" in text
    assert "desk BERLIN" in text and "Bonn" in text
    assert "meta=desk%3DBonn" in page


def test_the_form_has_a_field_for_each_kind_of_value_that_completes(client: FlaskClient) -> None:
    page, first = (client.get(path).get_data(as_text=True) for path in ("/search?q=%22", "/"))
    for name in ("source", *ATTRIBUTES, "entity"):
        field = f'name="{name}" type="text"'
        assert field in page and f'<datalist id="{name}-values">' in page
        assert (field in first) == (name in ATTRIBUTES), "the others have no values"
        assert "values" in get(client, "values", field=name)


def test_a_search_by_language_says_in_which_one_and_links_to_the_others(tmp_path: Path) -> None:
    texts = {"de": "Die Banken zahlten.", "en": "The bank pays."}
    given = [document(code, text, language=code, title=text) for code, text in texts.items()]
    load(tmp_path / "index", given, analyzer="by-language")
    with open_searcher(str(tmp_path / "index")) as searcher:
        client = create_app(searcher, Settings()).test_client()
        html = client.get("/search?q=bank&query_language=de").text
        assert "Searched in German; all words also occur in <a" in html and ">English</a>" in html
        assert "<mark>Banken</mark>" in html and "pays" not in html
        assert "<mark>bank</mark>" in client.get("/search?q=bank&query_language=en").text
        assert client.get("/search?q=bank+after:7d").status_code == 200
        assert get_text(client, "/search", q="bank after:7d")["total"] == 0  # no document has a date
        for path in ("/", "/document?id=en&q=Banken", "/explain?id=de.s0&q=Banken", "/similar?id=en.s0"):
            assert client.get(path).status_code == 200, path
        answer = get_text(client, "/search", q="bank", query_language="de")
        assert (answer["query"]["language"], answer["total"]) == ("de", 1)
        assert "fr" in get_text(client, "/search", 400, q="bank", query_language="fr")["error"]["message"]
        assert client.get("/search?q=bank&query_language=d:e").status_code == 400
        for code, text in texts.items():
            table = client.post(f"/batch?query_language={code}", data={"queries": "bank"}).text
            assert [other for other in texts.values() if other in table] == [text]


def test_a_query_in_a_language_that_no_document_is_in_does_not_reject_its_batch(tmp_path: Path) -> None:
    load(tmp_path / "index", [document("de", "Die Banken zahlten.", language="de")], analyzer="by-language")
    queries = [{"id": "1", "query": "bank"}, {"id": "2", "query": "bank language:xx"}]
    with open_searcher(str(tmp_path / "index")) as searcher:
        client = create_app(searcher, Settings()).test_client()
        known, unknown = post(client, {"queries": queries}).json["answers"]
        table = client.post("/batch", data={"queries": "bank\nbank language:xx"}).text
        alone = get_text(client, "/search", 400, q="bank language:xx")["error"]
        page = client.post("/batch?query_language=xx", data={"queries": "bank"}).text
        named = get_text(client, "/search", 400, q="bank", query_language="xx")["error"]
    assert (len(known["hits"]), unknown["error"]["field"]) == (1, "queries.1.query")
    assert "Banken" in table and "not searched: no document" in table
    assert [error["field"] for error in (alone, named)] == ["q", "query_language"]
    for message in (unknown["error"]["message"], table, page, alone["message"], named["message"]):
        assert "is in the language xx" in message and str(tmp_path) not in message


def test_an_explanation_names_the_argument_for_the_language_of_the_query(tmp_path: Path) -> None:
    texts = {"de": "Die Banken zahlten.", "en": "The bank pays."}
    given = [document(code, text, language=code) for code, text in texts.items()]
    load(tmp_path / "index", given, analyzer="by-language")
    with open_searcher(str(tmp_path / "index")) as searcher:
        client = create_app(searcher, Settings()).test_client()
        answer = get_text(client, "/explain", 400, id="en.s0", q="Banken")
        page = client.get("/explain?id=en.s0&q=Banken", headers={"Accept-Language": "de"}).text
    assert answer["error"]["message"].endswith("name the language of the query with query_language.")
    assert "nennen Sie die Sprache der Anfrage mit query_language" in page


def test_the_language_of_a_query_is_looked_for_once_for_a_page_of_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(tmp_path / "index", [document("de", "Die Banken zahlten.", language="de")], analyzer="by-language")
    asked, find = [], searcher_module.find_language

    def count(index: Index, query: ParsedQuery) -> searcher_module.QueryLanguage:
        asked.append(query.text)
        return find(index, query)

    monkeypatch.setattr(searcher_module, "find_language", count)
    with open_searcher(str(tmp_path / "index")) as searcher:
        page = create_app(searcher, Settings()).test_client().get("/search?q=bank").text
    assert "<mark>Banken</mark>" in page and asked == ["bank"]


@pytest.mark.slow
def test_every_page_and_operation_answers_in_an_index_by_language(anywhere: str) -> None:
    """With queries of words, of fields alone and of both; what is wrong with a request is no error 500."""
    texts = {"de": "Die Banken zahlten 1.500 Euro an Merkel.", "en": "The bank of Merkel pays."}
    given = [document(code, text, language=code, date="2024-05-01") for code, text in texts.items()]
    open_writer(anywhere, LoadOptions(analyzer="by-language")).load(given)
    with open_searcher(anywhere) as searcher:
        app = create_app(searcher, Settings(access_log=0))
        client = app.test_client()
        rules = {
            rule.rule
            for rule in app.url_map.iter_rules()
            if "GET" in (rule.methods or ()) and "<" not in rule.rule and "static" not in rule.rule
        }
        others = [{"id": "de.s0", "q": "after:7d"}, {"id": "de", "q": "after:7d"}, {"prefix": "ba"}]
        others += [{"name": "Merkel"}, {"part": "language:de"}, {"q": "Merkel", "part": "language:en"}]
        asked = [
            {"q": q} for q in ("after:7d", "Merkel after:7d", "language:de", "ban*", '"der Banken"', "die")
        ]
        failed = [
            (rule, arguments, answer.status_code)
            for rule in sorted(rules)
            for arguments in (*asked, *others)
            if (answer := client.get(rule, query_string=arguments)).status_code >= 500
        ]
        assert not failed
        for path in ("/", "/search?q=after:7d", "/api/v1/search?q=after:7d", "/timeline?q=after:7d"):
            assert client.get(path).status_code == 200, path
        for query in ("after:7d", "Merkel", "language:de after:7d"):
            assert client.post("/api/v1/search", json={"q": query}).status_code == 200, query
