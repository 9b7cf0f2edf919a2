from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Opens, query_box
from tests.support.page_addresses import PAGES, QUERY


def at(page: Page) -> str:
    return str(page.evaluate("document.activeElement.closest('li, p')?.id || document.activeElement.id"))


def test_slash_goes_to_the_box_and_escape_leaves_it(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    page.keyboard.press("/")
    expect(query_box(page)).to_be_focused()
    page.keyboard.type("/jk?")
    assert query_box(page).input_value() == "/jk?"
    page.keyboard.press("Escape")
    expect(query_box(page)).not_to_be_focused()


def test_j_and_k_move_and_enter_opens_the_document_at_the_sentence(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    for key, place in (
        ("j", "hit-1"),
        ("j", "hit-2"),
        ("j", "hit-3"),
        ("k", "hit-2"),
        ("k", "hit-1"),
        ("k", "hit-1"),
    ):
        page.keyboard.press(key)
        assert at(page) == place
    page.keyboard.press("Enter")
    page.wait_for_url("**/document?*#s*")


def test_w_opens_the_explanation_and_m_shows_more(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    page.keyboard.press("j")
    page.keyboard.press("w")
    expect(page.locator("#hit-1 .explanation")).to_be_visible()
    page.keyboard.press("m")
    expect(page.locator("#hit-11")).to_be_visible()


def test_j_and_k_go_from_hit_to_hit_in_a_document(opens: Opens) -> None:
    page = opens(PAGES["document"])
    hits = [f"s{n}" for n in page.locator(".whole .hit").evaluate_all("a => a.map(e => e.id.slice(1))")]
    assert len(hits) > 2
    for place in hits[:3]:
        page.keyboard.press("j")
        assert at(page) == place
    page.keyboard.press("k")
    assert at(page) == hits[1]


def test_a_question_mark_lists_the_keys(opens: Opens) -> None:
    page = opens("/")
    expect(query_box(page)).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    listed = page.get_by_role("dialog", name="Keys")
    expect(listed).to_be_visible()
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()


def test_keys_with_a_modifier_belong_to_the_browser(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    page.keyboard.press("Control+j")
    assert at(page) == ""
