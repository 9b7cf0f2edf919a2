"""Pages and operations of plug-ins: their addresses, arguments and errors, and the gate before them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

import esr
from esr.plugin import Argument, Operation, Page, PageContent, Plugin, Request, register, unregister
from webui.app import create_app
from webui.running.settings import Settings

ARGUMENTS = (
    Argument(name="words", help="how many words", kind="whole", default=3, low=1, high=9),
    Argument(name="share", help="a share", kind="number", low=0, high=1),
    Argument(name="order", help="the order", kind="choice", choices=("up", "down"), default="up"),
    Argument(name="tag", help="tags", is_repeatable=True),
)


def show(request: Request) -> PageContent:
    hits = request.index.search(request.arguments["q"], k=100)
    template = "<p>{{ mark }}</p><ul>{% for hit in hits %}<li>{{ hit.text }}</li>{% endfor %}</ul>"
    return PageContent("What <was> found", template, {"hits": hits, "mark": "<script>"})


def answer(request: Request) -> Any:
    return dict(request.arguments)


def change(request: Request) -> Any:
    return request.index.remove(["v0"])


def fail(request: Request) -> Any:
    raise KeyError("secret")


def operation(name: str, handler: Any, arguments: tuple[Argument, ...] = ()) -> Operation:
    return Operation(name, f"To {name}.", handler, {"type": "object"}, arguments)


PLUGIN = Plugin(
    name="mine",
    pages={"found": Page("found", show, "Found")},
    operations={
        "echo": operation("echo", answer, ARGUMENTS),
        "change": operation("change", change),
        "fail": operation("fail", fail),
    },
)


@pytest.fixture(autouse=True)
def plugin() -> Iterator[None]:
    register(PLUGIN)
    yield
    unregister(PLUGIN)


@pytest.fixture
def mine(searcher: Any) -> FlaskClient:
    return create_app(searcher).test_client()


def test_a_page_has_the_head_and_the_form_of_all_and_escapes_its_values(mine: FlaskClient) -> None:
    page = mine.get("/plugins/found?q=china")
    assert page.status_code == 200 and "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "<h1>What &lt;was&gt; found</h1>" in page.text and "<p>&lt;script&gt;</p><ul><li>" in page.text
    assert 'id="search"' in page.text


def test_each_page_links_the_pages_of_plugins(mine: FlaskClient) -> None:
    for path in ("/", "/search?q=china", "/plugins/found?q=china"):
        assert '<a href="/plugins/found">Found</a>' in mine.get(path).text


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("", {"words": 3, "share": None, "order": "up", "tag": []}),
        (
            "words=9&share=.5&order=down&tag=a&tag=b",
            {"words": 9, "share": 0.5, "order": "down", "tag": ["a", "b"]},
        ),
    ],
)
def test_arguments_have_values_and_defaults(mine: FlaskClient, query: str, values: Any) -> None:
    assert mine.get(f"/api/v1/plugins/echo?{query}").json == {**values, "q": None}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        *(
            ("words=0", "words"),
            ("words=1.5", "words"),
            ("words=1&words=2", "words"),
            ("order=left", "order"),
        ),
        *(("share=2", "share"), ("share=nan", "share"), ("share=x", "share"), ("size=3", "size")),
    ],
)
def test_a_bad_argument_is_named(mine: FlaskClient, query: str, field: str) -> None:
    refused: Any = mine.get(f"/api/v1/plugins/echo?{query}")
    assert refused.status_code == 400 and refused.json["error"]["field"] == field


def test_a_number_too_large_for_a_float_is_refused_where_arguments_may_be_so_long(searcher: Any) -> None:
    client = create_app(searcher, Settings(value_chars=1_000)).test_client()
    assert client.get(f"/api/v1/plugins/echo?words={'9' * 400}").status_code == 400


def test_an_operation_is_in_the_openapi_document(mine: FlaskClient) -> None:
    document: Any = mine.get("/api/v1/openapi.json").json
    described = document["paths"]["/plugins/echo"]["get"]
    assert described["summary"] == "To echo."
    schemas = {row["name"]: row["schema"] for row in described["parameters"]}
    assert schemas["words"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}
    assert schemas["order"] == {"enum": ["up", "down"], "default": "up"}
    assert schemas["tag"]["type"] == "array"
    assert document["components"]["schemas"]["plugins.echo"] == {"type": "object"}


def test_a_plugin_cannot_change_the_index_of_a_request(mine: FlaskClient) -> None:
    refused: Any = mine.get("/api/v1/plugins/change")
    assert refused.status_code == 400 and "can only be searched" in refused.json["error"]["message"]


def test_an_error_of_a_plugin_is_one_of_the_server_without_its_message(mine: FlaskClient) -> None:
    failed = mine.get("/api/v1/plugins/fail")
    assert failed.status_code == 500 and "secret" not in failed.text


def test_a_plugin_is_behind_the_rate_limit(searcher: Any) -> None:
    client = create_app(searcher, Settings(rate="2/minute")).test_client()
    assert [client.get("/plugins/found?q=china").status_code for _ in range(3)] == [200, 200, 429]


def test_an_index_over_a_searcher_is_only_searched(searcher: Any) -> None:
    index = esr.Index.from_searcher(searcher)
    assert len(index.search("china")) > 0
    with pytest.raises(esr.UsageError, match=r"open it with esr\.open"):
        index.rollback()
