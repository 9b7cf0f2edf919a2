from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webui.pages import template_filters as filters


@pytest.mark.parametrize("url", ["http://a.example/", "https://a.example:8/x?q=1#f", "HTTPS://A.EXAMPLE"])
def test_web_addresses_are_links(url: str) -> None:
    assert filters.web_url(url) == url


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
    assert filters.web_url(url) is None


@given(st.text())
def test_a_link_always_begins_with_http(text: str) -> None:
    assert (filters.web_url(text) or "http://").lower().startswith(("http://", "https://"))


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        ("2017-03-05", "5 March 2017"),
        ("2017-12-31T23:59:59+01:00", "31 December 2017"),
        ("2017-03", "2017-03"),
        ("2017-02-30", "2017-02-30"),
        ("2017-03-055", "2017-03-055"),
        ("<b>", "<b>"),
        ("", ""),
    ],
)
def test_a_full_date_is_shown_in_words_and_anything_else_unchanged(date: str, shown: str) -> None:
    assert filters.day(date) == shown


@pytest.mark.parametrize(
    ("tag", "lang", "dir"),
    [
        ("en", "en", "ltr"),
        ("pt-BR", "pt-BR", "ltr"),
        ("ar", "ar", "rtl"),
        ("az-Arab", "az-Arab", "rtl"),
        ('e"n', "", "auto"),
        ("", "", "auto"),
        (None, "", "auto"),
    ],
)
def test_a_text_has_its_language_and_direction_if_known(tag: str | None, lang: str, dir: str) -> None:
    assert filters.text_attributes(tag) == f' lang="{lang}" dir="{dir}"'
    assert filters.lang_attribute(tag) == f' lang="{lang}"'


def test_numbers_are_shown_for_readers() -> None:
    assert [filters.duration(ms) for ms in (0.2, 12.4, 1440)] == ["under 1 ms", "12 ms", "1.4 s"]
    assert [filters.score(s) for s in (-1.23456, -0.0001, 2.0)] == ["−1.235", "0.000", "2.000"]


def test_a_date_field_takes_full_dates_only() -> None:
    assert [filters.is_full_date(t) for t in ("", "2017-03-05", "2017-03", "2017-03-05T10:00Z")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("text, shown", [("2017-03", "March 2017"), ("2017-13", "2017-13"), ("x", "x")])
def test_a_month_is_shown_in_words(text: str, shown: str) -> None:
    assert filters.month(text) == shown
