from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import Opens, Site
from tests.support.page_addresses import FAILING, PAGES, QUERY

OFF: dict[str, Any] = {"java_script_enabled": False}


def test_search_settings_more_sentences_and_explanations_need_no_javascript(opens: Opens) -> None:
    page = opens("/", **OFF)
    page.get_by_role("searchbox").fill("earthquake relief China")
    page.get_by_role("button", name="Search", exact=True).click()
    page.wait_for_url(f"**/search?{QUERY}")
    page.get_by_role("link", name="Show more sentences").click()
    expect(page.locator("#hit-20")).to_be_visible()
    page.locator("#hit-1 .why").click()
    expect(page.get_by_role("img", name="Dependency tree of")).to_be_visible()
    page.go_back()
    page.locator(".controls > summary").click()
    page.locator(".tuning > summary").click()
    page.get_by_label("Model", exact=True).select_option("bm25")
    page.get_by_role("button", name="Search with these settings").click()
    page.wait_for_url("**model=bm25**")
    assert "params." not in page.url  # those of the model chosen before are left
    page.locator(".controls > summary").click()
    page.locator(".tuning > summary").click()
    expect(page.locator(r"#bm25\.k1")).to_be_visible()


def test_every_page_works_without_javascript(opens: Opens) -> None:
    for name, path in PAGES.items():
        page = opens(path, fails=name in FAILING, **OFF)
        expect(page.get_by_role("searchbox").first).to_be_visible()
        assert page.locator("main").inner_text().strip()
        expect(page.locator(".wait")).to_be_hidden()
        assert page.get_by_role("button", name="Keys").count() == 0


def test_many_queries_need_no_javascript(opens: Opens, site: Site) -> None:
    page = opens("/batch", fails=True, **OFF)
    page.get_by_label("Queries", exact=True).fill("earthquake")
    site.index.incomplete = "1 of 3 shards failed"
    page.get_by_role("button", name="Search for all queries").click()
    expect(page.get_by_role("alert")).to_contain_text("This answer is incomplete")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the incomplete file").click()
    assert waiting.value.suggested_filename == "queries-incomplete.csv"
