"""What a browser makes of other scripts than Latin."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Opens
from tests.support.page_addresses import QUERY


def show(page: Page, html: str, lang: str, dir: str) -> None:
    """Put other content into the first sentence."""
    page.locator("p.sentence").first.evaluate(
        "(p, [html, lang, dir]) => { p.innerHTML = html; p.lang = lang; p.dir = dir }", [html, lang, dir]
    )


def width(page: Page, html: str, lang: str = "ar", dir: str = "rtl") -> float:
    """How wide the first sentence is with this content."""
    show(page, f"<span>{html}</span>", lang, dir)
    measured = page.locator("p.sentence > span").first.evaluate("s => s.getBoundingClientRect().width")
    return float(measured)


def test_a_mark_takes_no_room_which_would_part_the_letters_around_it(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    for mark in (page.locator(".sentence mark").first, page.locator(".near mark").first):
        names = ("paddingLeft", "paddingRight", "marginLeft", "marginRight", "borderLeftWidth")
        assert mark.evaluate("(m, names) => names.map(n => getComputedStyle(m)[n])", names) == ["0px"] * 5


@pytest.mark.parametrize("word", ["العالم", "بيتهم", "سسسس"])
def test_a_mark_inside_an_arabic_word_leaves_its_letters_joined(opens: Opens, word: str) -> None:
    page = opens(f"/search?{QUERY}")
    marked = f"{word[:2]}<mark>{word[2:]}</mark>"
    assert width(page, marked) == pytest.approx(width(page, word), abs=0.5)
    apart = f"{word[:2]}\u200c{word[2:]}"  # the measure sees letters that do not join
    assert abs(width(page, apart) - width(page, word)) > 0.5


def test_an_arabic_query_begins_at_the_right_of_the_box(opens: Opens) -> None:
    page = opens("/")
    box = page.locator("#q")
    for text, direction in (("earthquake", "ltr"), ("زلزال China", "rtl")):
        box.fill(text)
        assert box.evaluate("b => getComputedStyle(b).direction") == direction


def test_lines_are_taller_where_letters_are(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    heights = []
    for lang, dir in (("en", "ltr"), ("th", "ltr"), ("ur", "rtl")):
        show(page, "abc", lang, dir)
        line = page.locator("p.sentence").first.evaluate("p => parseFloat(getComputedStyle(p).lineHeight)")
        heights.append(line)
    assert heights[0] < heights[1] < heights[2]


def test_the_link_to_the_reason_stands_behind_a_sentence(opens: Opens) -> None:
    page = opens(f"/document?id=earthquake-relief&{QUERY}")
    with_reason = page.locator(".whole span[id]:has(.why)")
    last = with_reason.evaluate_all("all => all.map(s => s.lastElementChild.className)")
    assert last and set(last) == {"why"}
