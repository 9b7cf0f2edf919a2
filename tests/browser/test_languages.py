"""Pages in other languages, in a browser: mirrored in Arabic, on a phone, with translated scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opens, follow
from tests.browser.test_pages import SETTINGS, WITH_SETTINGS, is_wider_than, unfold, violations
from tests.support.page_corpus import FAILING, PAGES, QUERY


@pytest.mark.parametrize("name", PAGES)
def test_a_page_in_arabic_is_accessible_and_fits_a_phone(visits: Opens, name: str) -> None:
    """Its colours are those of the page in English."""
    page = visits(PAGES[name], 1280, fails=name in FAILING, locale="ar", bypass_csp=True)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    unfold(page)
    assert violations(page, colours=False, without=None if name in WITH_SETTINGS else SETTINGS) == []
    for width in (1280, 390, 320):
        assert not is_wider_than(page, width)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_in_german_fits_a_phone(visits: Opens, name: str) -> None:
    page = visits(PAGES[name], 320, fails=name in FAILING, locale="de-DE")
    unfold(page)
    assert not is_wider_than(page, 320)


def test_an_arabic_page_is_mirrored_and_its_charts_are_not(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}", locale="ar")
    boxes = [page.locator(place).first.bounding_box() for place in (".rail", ".hits", ".masthead .name")]
    assert all(boxes)
    rail, hits, name = (box for box in boxes if box)
    assert rail["x"] > hits["x"] + hits["width"] - 1
    assert name["x"] > 640
    assert page.locator(".hits .sentence").first.evaluate("e => getComputedStyle(e).direction") == "ltr"
    first, last = (page.locator(".ticks span").nth(n).bounding_box() for n in (0, 1))
    assert first and last and first["x"] < last["x"]
    assert (
        page.locator(".hits .turns")
        .first.evaluate("e => getComputedStyle(e).transform")
        .startswith("matrix(-1")
    )


def test_a_headline_of_the_front_page_begins_where_its_article_does(opens: Opens) -> None:
    page = opens("/")
    headline = page.locator(".story h2:has(.open)").first
    for direction in ("ltr", "rtl"):
        headline.locator(".open").evaluate("(link, dir) => link.dir = dir", direction)
        assert headline.evaluate("e => getComputedStyle(e).direction") == direction


def test_scripts_speak_the_language_of_the_page(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}", locale="fr-FR")
    save = page.locator("#hit-1 .clip")
    expect(save).to_have_text("Enregistrer")
    save.click()
    expect(page.get_by_text("1 extrait", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Touches")).to_be_visible()


def test_a_reader_chooses_the_language_at_the_foot_of_a_page(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    follow(page.get_by_role("button", name="Deutsch"))
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert page.url.endswith(f"/search?{QUERY}")
    page.goto(page.url.replace("/search", "/"))
    expect(page.get_by_role("button", name="Suchen", exact=True)).to_be_visible()
    page.context.clear_cookies()
