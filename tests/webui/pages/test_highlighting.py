from __future__ import annotations

from html import unescape
from re import findall, split

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from esr import analysis
from webui.pages.highlighting import Highlighter, word_ranges

STEMS = analysis.get("english-stem")
PLAIN = analysis.get("plain")
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
        == "<mark>storm</mark>&#39;s <mark>test</mark>-fired"
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


@given(TEXTS)
def test_words_follow_each_other_and_do_not_overlap(text: str) -> None:
    bounds = [bound for word in word_ranges(text) for bound in word]
    assert bounds == sorted(bounds)
