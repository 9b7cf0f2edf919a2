"""Completion in the search box, and the keys of the page."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from playwright.sync_api import Locator, Page, expect

from esr.ranking.completions import Completion
from esr.ranking.searcher import Searcher
from tests.browser.conftest import Opens, query_box
from tests.browser.test_pages import violations
from tests.support.page_corpus import PAGES, QUERY


def options(page: Page) -> Locator:
    return page.locator("[role=listbox] [role=option]")


def texts(page: Page) -> list[str]:
    return options(page).locator("bdi").all_inner_texts()


def type_and_wait(page: Page, text: str) -> None:
    query_box(page).press_sequentially(text)
    options(page).first.wait_for()


def test_the_last_word_is_completed_by_words_of_the_collection(opens: Opens) -> None:
    page = opens("/")
    box = query_box(page)
    expect(box).to_have_attribute("aria-expanded", "false")
    type_and_wait(page, "relief ear")
    expect(box).to_have_attribute("aria-expanded", "true")
    assert texts(page)[0] == "earthquake"


def test_the_arrow_keys_reach_completions_and_enter_takes_one_without_searching(opens: Opens) -> None:
    page = opens("/")
    box = query_box(page)
    type_and_wait(page, "relief ear")
    size = len(texts(page))
    page.keyboard.press("ArrowDown")
    first = options(page).first
    expect(first).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == first.get_attribute("id")
    for _ in range(size):  # past the last one, what was typed
        page.keyboard.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") is None
    page.keyboard.press("ArrowUp")  # and before the first one, the last
    assert box.get_attribute("aria-activedescendant") == f"completion-{size - 1}"
    for _ in range(size - 1):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(box).to_have_value("relief earthquake")
    expect(box).to_be_focused()
    expect(options(page)).to_have_count(0)
    assert page.url.endswith("/")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=relief+earthquake")


def test_enter_searches_for_what_was_typed_if_no_completion_was_reached(opens: Opens) -> None:
    page = opens("/")
    type_and_wait(page, "relief ear")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=relief+ear")


def test_a_completion_can_be_clicked(opens: Opens) -> None:
    page = opens("/")
    type_and_wait(page, "relief ear")
    options(page).first.click()
    expect(query_box(page)).to_have_value("relief earthquake")
    expect(query_box(page)).to_be_focused()


def test_escape_closes_the_list_and_then_leaves_the_box(opens: Opens) -> None:
    page = opens("/")
    type_and_wait(page, "relief ear")
    page.keyboard.press("Escape")
    expect(options(page)).to_have_count(0)
    expect(query_box(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(query_box(page)).not_to_be_focused()


def test_leaving_the_box_closes_the_list(opens: Opens) -> None:
    page = opens("/")
    type_and_wait(page, "relief ear")
    page.keyboard.press("Tab")
    expect(options(page)).to_have_count(0)


def test_a_name_is_completed_with_what_it_is(opens: Opens) -> None:
    page = opens("/")
    type_and_wait(page, "place:Ch")
    expect(options(page).first).to_contain_text("China")
    assert options(page).first.inner_text().split()[:3] == ["China", "name", "·"]


def test_only_the_end_of_the_text_is_completed(opens: Opens) -> None:
    page = opens("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/complete" in request.url else None)
    type_and_wait(page, "ear")
    count = len(asked)
    page.keyboard.press("Space")
    expect(options(page)).to_have_count(0)
    page.keyboard.press("Home")
    page.keyboard.type("re")
    page.wait_for_timeout(400)
    assert len(asked) == count


def test_a_late_answer_is_dropped_and_typing_does_not_wait(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()

    def complete(searcher: Searcher, text: str, limit: int) -> Sequence[Completion]:
        if text == "ea":
            released.wait(10)
        return [Completion(f"{text}!", "word", 1, f"{text}!")]

    monkeypatch.setattr("webui.api.handlers.complete_query", complete)
    page = opens("/")
    with page.expect_request("**/complete?q=ea"):
        query_box(page).press_sequentially("ea")
    query_box(page).press_sequentially("r")
    expect(query_box(page)).to_have_value("ear")
    expect(options(page).locator("bdi")).to_have_text(["ear!"])
    released.set()
    page.wait_for_timeout(300)
    assert texts(page) == ["ear!"]


def test_a_server_that_completes_nothing_is_no_trouble(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> Sequence[Completion]:
        raise RuntimeError("broken")

    monkeypatch.setattr("webui.api.handlers.complete_query", fail)
    page = opens("/", fails=True)
    with page.expect_response("**/complete?q=relief"):
        query_box(page).press_sequentially("relief")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=relief")


def test_what_has_quotes_does_not_complete_a_literal_query(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [Completion("A B", "name", 2, 'place:"A B"'), Completion("ab", "word", 1, "ab")]
    monkeypatch.setattr("webui.api.handlers.complete_query", lambda *args: found)
    page = opens("/search?q=relief&literal=yes")
    query_box(page).fill("")
    type_and_wait(page, "a")
    assert texts(page) == ["ab"]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_violation_in_the_list(opens: Opens, scheme: str, width: int) -> None:
    page = opens("/", width, color_scheme=scheme, bypass_csp=True)
    type_and_wait(page, "relief ear")
    page.keyboard.press("ArrowDown")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


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
    page = opens(f"/search?{QUERY}&passages=no")
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
    expect(page.get_by_role("region", name="Article", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1000, "height": 900})
    page.keyboard.press("Enter")
    page.wait_for_url("**/document?*#s*")


def test_w_opens_the_explanation_and_m_shows_more(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}&passages=no")
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
