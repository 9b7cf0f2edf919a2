from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from esr.errors import EngineUnreachable
from tests.browser.conftest import Opens, Site, follow, query_box
from tests.browser.test_pages import violations
from tests.support.page_corpus import PAGES, QUERY


def test_the_page_says_that_it_is_searching_and_then_how_long_it_can_take(opens: Opens, site: Site) -> None:
    page = opens(f"/search?{QUERY}&passages=no")
    wait = page.locator(".wait")
    expect(wait).to_be_hidden()
    site.index.released.clear()
    page.get_by_role("link", name="Show more sentences").click()
    expect(wait).to_be_visible()
    expect(wait).to_have_text("Searching …")
    expect(wait).to_contain_text("Still searching. This takes at most 10 seconds")
    site.index.released.set()
    expect(page.locator("#hit-11")).to_be_visible()
    expect(wait).to_be_hidden()


def test_a_submitted_search_shows_that_it_is_running(opens: Opens, site: Site) -> None:
    page = opens("/")
    page.evaluate(
        """() => { const wait = document.querySelector(".wait");
                 new MutationObserver(() => { if (!wait.hidden) console.log("it runs"); })
                   .observe(wait, { attributes: true }); }"""
    )
    site.index.released.clear()
    query_box(page).fill("earthquake")
    with page.expect_console_message(lambda message: message.text == "it runs"):
        page.keyboard.press("Enter")
    site.index.released.set()
    page.wait_for_url("**/search**")
    expect(page.locator(".wait")).to_be_hidden()


def test_an_unreachable_engine_is_reported_and_the_page_recovers_with_it(opens: Opens, site: Site) -> None:
    page = opens("/", fails=True)
    site.index.error = EngineUnreachable("http://inside:9200 timed out")
    page.goto(site.url(f"/search?{QUERY}"))
    expect(page.get_by_role("alert")).to_contain_text("The search engine is not responding")
    assert "inside" not in page.content()
    assert query_box(page).input_value() == "earthquake relief China"
    site.index.error = None
    page.get_by_role("link", name="Try again").click()
    expect(page.locator(".hits p.sentence").first).to_be_visible()


def test_if_more_sentences_cannot_be_fetched_the_page_says_why(opens: Opens, site: Site) -> None:
    page = opens(f"/search?{QUERY}&passages=no", fails=True)
    site.index.error = EngineUnreachable("down")
    page.get_by_role("link", name="Show more sentences").click()
    expect(page.get_by_role("alert")).to_contain_text("is not responding")


def test_incomplete_answers_to_many_queries_are_reported_and_can_be_downloaded(
    opens: Opens, site: Site, tmp_path: Path
) -> None:
    page = opens("/batch?source=Northern+Wire", fails=True, bypass_csp=True)
    uploaded = tmp_path / "queries.txt"
    uploaded.write_text("earthquake\nrelief", "utf-8")
    page.get_by_label("or upload a file").set_input_files(uploaded)
    site.index.incomplete = "1 of 3 shards failed"
    page.get_by_role("button", name="Search for all queries").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("These answers are incomplete")
    assert alert.get_by_role("listitem").all_inner_texts() == [f"{n}: 1 of 3 shards failed" for n in (1, 2)]
    assert violations(page) == []
    page.get_by_role("button", name="Search again").click()
    expect(alert).to_contain_text("These answers are incomplete")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the incomplete file").click()
    expect(alert).to_have_count(0)
    assert waiting.value.suggested_filename == "queries-incomplete.csv"
    assert "1 of 3 shards failed" in Path(waiting.value.path()).read_text("utf-8-sig")
    site.index.incomplete = None
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Search for all queries").click()  # what was uploaded is in the box
    assert waiting.value.suggested_filename == "queries.csv"


def test_the_batch_page_says_that_it_is_searching_and_keeps_the_queries(opens: Opens, site: Site) -> None:
    page = opens("/batch", fails=True)
    box, wait = page.get_by_label("Queries", exact=True), page.locator(".wait")
    box.fill("earthquake\nferry")
    site.index.released.clear()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Search for all queries").click()
        expect(wait).to_be_visible()
        expect(wait).to_contain_text("Still searching. This takes at most 60 seconds")
        site.index.released.set()
    assert "ferry" in Path(waiting.value.path()).read_text("utf-8-sig")
    assert waiting.value.suggested_filename == "queries.csv"
    expect(wait).to_be_hidden()
    site.index.error = EngineUnreachable("down")
    for _ in range(2):
        page.get_by_role("button", name="Search for all queries").click()
        expect(page.get_by_role("alert")).to_contain_text("is not responding")
        expect(page.get_by_role("alert")).to_have_count(1)
    assert box.input_value() == "earthquake\nferry"
    site.index.error = None
    with page.expect_download():
        page.get_by_role("button", name="Search for all queries").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_bad_setting_is_reported_at_its_field_and_can_be_dropped(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}&params.mu=-3", fails=True)
    expect(page.get_by_role("alert")).to_contain_text("'mu' must be a number in (0, inf]".replace("]", ""))
    expect(page.locator(r"#\32 si\.mu")).to_have_attribute("aria-invalid", "true")
    assert page.locator("[aria-invalid]").count() == 1
    follow(page.get_by_role("link", name="Search without this setting"))
    assert page.url.endswith(f"/search?{QUERY}")


def test_a_query_of_stop_words_is_reported_at_the_box(opens: Opens) -> None:
    page = opens("/search?q=the+and", fails=True)
    box = query_box(page)
    assert box.get_attribute("aria-describedby") == "problem"
    expect(page.get_by_role("alert")).to_contain_text("only stop words")


def test_a_printed_page_has_the_sentences_and_no_controls(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    page.emulate_media(media="print")
    for gone in (".search", ".foot", ".toolbar", ".rail", ".actions"):
        expect(page.locator(gone).first).to_be_hidden()
    expect(page.locator("p.sentence").first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"


def test_a_printed_document_has_only_its_text(opens: Opens) -> None:
    page = opens(PAGES["document"])
    page.emulate_media(media="print")
    for gone in (".scale", ".legend a", ".whole .why"):
        expect(page.locator(gone).first).to_be_hidden()
    expect(page.locator(".whole .hit").first).to_be_visible()


def test_light_and_dark_follow_the_system(opens: Opens) -> None:
    grounds = [
        opens("/", color_scheme=scheme).locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert grounds[0] != grounds[1]
