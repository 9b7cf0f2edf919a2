"""Highlighting, and the filters of templates: addresses, dates, languages and numbers."""

from __future__ import annotations

from html import unescape
from re import findall, finditer, split

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import all_definitions
from webui.pages.rendering import (
    Highlighter,
    duration,
    lang_attribute,
    score,
    text_attributes,
)
from webui.pages.wording import is_full_date, write_day, write_month

STEMS = get_analyzer("english-stem")
PLAIN = get_analyzer("plain")
SCRIPTS = st.text(alphabet="abU.S'’ \u00a0\u2009\u202f500,-_中国。กาไ\u0301ट\u200d👩한ｶﾞ", max_size=20)
TEXTS = st.text() | st.text(alphabet="storm <>&\"'")


def highlighted(text: str, *terms: str) -> str:
    return str(Highlighter(STEMS, terms)(text))


def test_a_word_is_marked_where_its_stem_is_a_term() -> None:
    assert highlighted("Storms and a storming, stormy night", "storm") == (
        "<mark>Storms</mark> and a <mark>storming</mark>, stormy night"
    )


def test_markup_in_a_text_is_escaped_inside_and_outside_marks() -> None:
    assert highlighted("<b>storm</b> & <mark>", "storm", "b") == (
        "&lt;<mark>b</mark>&gt;<mark>storm</mark>&lt;/<mark>b</mark>&gt; &amp; &lt;mark&gt;"
    )


def test_only_whole_words_are_marked() -> None:
    assert highlighted("brainstorm", "storm") == "brainstorm"
    assert (
        highlighted("storm's test-fired", "storm", "test")
        == "<mark>storm&#39;s</mark> <mark>test</mark>-fired"
    )


def test_stop_words_are_never_marked() -> None:
    assert "<mark>" not in highlighted("the and of", "the", "storm")


def test_an_accent_written_apart_stays_with_its_letter() -> None:
    assert str(Highlighter(PLAIN, ["cafe"])("cafe\u0301 x")) == "<mark>cafe\u0301</mark> x"


@given(TEXTS, st.lists(st.text(max_size=5), max_size=5))
def test_any_text_is_escaped_and_otherwise_unchanged(text: str, terms: list[str]) -> None:
    html = str(Highlighter(PLAIN, [*terms, "storm"])(text))
    pieces = split("</?mark>", html)
    assert unescape("".join(pieces)) == unescape(str(escape(text)))
    assert not {"<", ">", '"', "'"} & set("".join(pieces))
    assert html.count("<mark>") == html.count("</mark>")


@given(TEXTS)
def test_every_term_of_a_text_is_marked(text: str) -> None:
    terms = PLAIN.terms(text)
    words = findall("<mark>(.*?)</mark>", str(Highlighter(PLAIN, terms)(text)))
    assert [term for word in words for term in PLAIN.terms(word)] == terms


@pytest.mark.parametrize(
    ("analyzer", "query", "text", "marked"),
    [
        ("english-stem", "US wall", "The U.S. and Trump\u2019s wall", ["U.S.", "wall"]),
        ("english-stem", "Trump", "Trump\u2019s, trump", ["Trump\u2019s", "trump"]),
        ("english-stem", "Beyonc\u00e9", "Beyonce\u0301 sang", ["Beyonce\u0301"]),
        ("english-stem", "500000", "for $500,000.", ["500,000"]),
        ("english-stem", "500000", "for\xa0$500\xa0000 or", []),
        ("hindi", "टेस्ला", "टेस्ला के आविष्कार", ["टेस्ला"]),
        ("multilingual", "经济增长", "中国经济增长很快，经济", ["经济增长", "经济"]),
        ("multilingual", "中国 增长", "中国增长很快", ["中国增长"]),
        ("multilingual", "ภาษาไทย", "ภาษาไทยง่าย", ["ภาษาไทย"]),
        ("multilingual", "ガギ", "ｶﾞｷﾞ", ["ｶﾞｷﾞ"]),
        ("arabic", "العالم", "في العالَم والعالم", ["العالَم"]),
        ("persian", "کتاب", "کتاب\u200cها", ["کتاب"]),
        ("french", "avion", "L\u2019avion part", ["L\u2019avion"]),
    ],
)
def test_exactly_the_words_that_matched_are_marked_in_any_script(
    analyzer: str, query: str, text: str, marked: list[str]
) -> None:
    found = get_analyzer(analyzer)
    html = unescape(str(Highlighter(found, found.terms(query))(text)))
    assert findall("<mark>(.*?)</mark>", html) == marked


@given(st.sampled_from(list(all_definitions())), TEXTS | SCRIPTS)
def test_chunks_between_spaces_have_the_tokens_of_the_whole_text(name: str, text: str) -> None:
    analyzer = get_analyzer(name)
    in_chunks = [
        (chunk.start() + token.start, chunk.start() + token.end, token.term)
        for chunk in finditer("[^ ]+", text)
        for token in analyzer.tokens(chunk[0])
    ]
    assert in_chunks == list(analyzer.tokens(text))


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
    assert write_day(date) == shown


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
    assert text_attributes(tag) == f' lang="{lang}" dir="{dir}"'
    assert lang_attribute(tag) == f' lang="{lang}"'


def test_numbers_are_shown_for_readers() -> None:
    assert [duration(ms) for ms in (0.2, 12.4, 1440)] == ["under 1 ms", "12 ms", "1.4 s"]
    assert [score(s) for s in (-1.23456, -0.0001, 2.0)] == ["−1.235", "0.000", "2.000"]


def test_a_date_field_takes_full_dates_only() -> None:
    assert [is_full_date(t) for t in ("", "2017-03-05", "2017-03", "2017-03-05T10:00Z")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("text, shown", [("2017-03", "March 2017"), ("2017-13", "2017-13"), ("x", "x")])
def test_a_month_is_shown_in_words(text: str, shown: str) -> None:
    assert write_month(text) == shown
