"""Which addresses of documents are shown and exported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.text.addresses import web_url


@pytest.mark.parametrize("url", ["http://a.example/", "https://a.example:8/x?q=1#f", "HTTPS://A.EXAMPLE"])
def test_web_addresses_are_links(url: str) -> None:
    assert web_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java\nscript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "//a.example/",
        "/search",
        "a.example",
        "http:",
        "http:///x",
        "https://[",
        "http://a.example/\x00",
        "http://a.example/\u202e",
        "file:///etc/passwd",
    ],
)
def test_anything_else_is_no_link(url: str | None) -> None:
    assert web_url(url) is None


@given(st.text())
def test_a_link_always_begins_with_http(text: str) -> None:
    assert (web_url(text) or "http://").lower().startswith(("http://", "https://"))
