"""What a browser keeps: saved searches, clippings and judgements, from the first click to the file."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from esr.following.alerts.saved_searches import read_searches
from esr.lab.judgements import read_qrels
from tests.browser.conftest import Opens, Site, follow
from tests.browser.test_pages import violations
from tests.support.page_corpus import PAGES, QUERY


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def download(page: Page, name: str, folder: Path) -> Path:
    with page.expect_download() as waiting:
        press(page, name)
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def stored(page: Page, name: str) -> list[dict[str, object]]:
    return list(json.loads(page.evaluate(f"localStorage.getItem('esr.{name}')") or "[]"))


def clips(page: Page) -> Locator:
    return page.locator("#clippings .kept > li")


def test_a_saved_search_counts_what_is_new_since_its_last_visit(
    opens: Opens, site: Site, tmp_path: Path
) -> None:
    page = opens("/search?q=relief&k=20&sort=date&source=Northern+Wire")
    press(page, "Save this search")
    expect(page.get_by_role("button", name="Saved search")).to_be_visible()
    expect(page.locator(".told")).to_contain_text("The search is saved")
    (search,) = stored(page, "searches")
    assert search["arguments"] == "q=relief&source=Northern+Wire"

    # The browser forgets one sentence, as if it had come since, and believes that there was another one less.
    page.evaluate(
        """() => { const [search] = JSON.parse(localStorage.getItem("esr.searches"));
                   search.seen.ids.shift(); search.seen.total -= 2;
                   localStorage.setItem("esr.searches", JSON.stringify([search])); }"""
    )
    page.goto(site.url("/"))
    expect(page.locator(".home main .new")).to_have_text("2 new")
    page.goto(site.url("/saved"))
    expect(page.locator("#searches .new")).to_have_text("2 new")
    assert "/search.atom?q=relief&source" in (page.locator("#searches .feed").get_attribute("href") or "")
    toml = download(page, "All as lines for esr watch", tmp_path)
    (told,) = read_searches(toml)
    assert (told.name, told.filters.sources) == ("relief", ("Northern Wire",))

    follow(page.locator("#searches a.open"))
    expect(page.locator(".hits .new")).to_have_count(1)
    page.wait_for_timeout(100)
    page.goto(site.url("/saved"))
    page.wait_for_load_state("networkidle")
    expect(page.locator("#searches .new")).to_have_text("")
    press(page, "Remove")
    expect(page.locator("#searches .none")).to_be_visible()
    assert stored(page, "searches") == []


def test_what_is_of_one_claim_sentence_or_name_is_no_search_to_save(opens: Opens) -> None:
    similar, name = "/similar?id=earthquake-relief.s0&q=relief", "/name?name=China&q=relief"
    for path in (PAGES["evidence"], similar, name):
        page = opens(path)
        expect(page.get_by_role("link", name="Saved", exact=True)).to_be_visible()
        assert page.locator(".saving").count() == 0, path


def test_a_search_saved_on_a_view_of_it_is_that_for_its_sentences(opens: Opens) -> None:
    for path, view in (
        ("collocations", "window=3&measure=mi&by=forms"),
        ("timeline", "interval=month&also=China"),
    ):
        page = opens(f"/{path}?q=relief&{view}&source=Northern+Wire")
        press(page, "Save this search")
        expect(page.locator(".told")).to_contain_text("The search is saved: ")
        assert stored(page, "searches")[-1]["arguments"] == "q=relief&source=Northern+Wire"


def test_a_second_click_at_once_is_no_second_request(opens: Opens) -> None:
    page = opens(PAGES["results"])
    page.evaluate("() => { const why = document.querySelector('a.why'); why.click(); why.click(); }")
    expect(page.locator("article .explanation")).to_be_visible()
    page.evaluate("() => { const clip = document.querySelector('.clip'); clip.click(); clip.click(); }")
    expect(page.locator("#hit-1 .clip")).to_have_text("Saved")
    page.wait_for_load_state("networkidle")
    assert len(stored(page, "clippings")) == 1 and page.locator("article .explanation").count() == 1


def test_a_saved_search_for_words_that_no_sentence_has_together_says_so(opens: Opens) -> None:
    page = opens("/search?q=relief+zyxgarble")
    press(page, "Save this search")
    expect(page.locator(".told")).to_have_text(
        "The search is saved. No sentence has all its words yet: all that is saved"
    )
    follow(page.locator(".told a"))
    expect(page.get_by_text("New are sentences with all words of a search.")).to_be_visible()


def test_what_saves_a_search_stands_in_the_line_of_its_actions(opens: Opens) -> None:
    for path, beside in (("/search", "Export"), ("/quotes", "Export"), ("/timeline", "Export")):
        page = opens(f"{path}?q=relief")
        places = [
            box["y"] + box["height"] / 2
            for box in (
                page.get_by_role("button", name="Save this search").bounding_box(),
                page.locator(".toolbar").get_by_text(beside, exact=True).bounding_box(),
            )
            if box
        ]
        assert len(places) == 2 and abs(places[0] - places[1]) < 8, path
        assert page.locator(".top").get_by_role("link", name="Saved").get_attribute("href") == "/saved"
    page = opens("/quotes?q=relief&speaker=Mira Kovač")
    press(page, "Save this search")
    expect(page.locator(".told")).to_contain_text("The search is saved")
    (search,) = stored(page, "searches")
    assert search["arguments"] == "q=relief+speaker%3A%22Mira+Kova%C4%8D%22"
    assert search["name"] == 'relief speaker:"Mira Kovač"'
    page = opens("/quotes?q=relief")  # what somebody said is saved as other sentences are
    said = page.locator("article", has=page.locator("mark")).first
    said.hover()
    said.get_by_role("button", name="Save").click()
    expect(page.locator(".told")).to_have_text("Saved: 1 clipping")
    speaker = said.get_attribute("data-speaker")
    assert speaker and stored(page, "clippings")[0]["speaker"] == speaker
    follow(page.locator(".told a"))
    expect(clips(page).locator(".speaker")).to_have_text(f"said by {speaker}")


def test_all_sentences_and_chosen_columns_are_exported_without_scripts(opens: Opens, tmp_path: Path) -> None:
    page = opens(f"/search?{QUERY}&k=2&source=Northern+Wire", java_script_enabled=False)
    page.locator(".menu summary", has_text="Export").click()
    page.get_by_text("Choose columns").click()
    for column in ("rank", "score", "sentence id", "document id", "position", "url"):
        page.get_by_label(column, exact=True).uncheck()
    page.get_by_label("language", exact=True).check()
    button = page.get_by_role("button", name=re.compile("sentences as CSV$"))
    with page.expect_download() as waiting:
        button.click()
    lines = Path(waiting.value.path()).read_text("utf-8-sig").splitlines()
    assert lines[0] == "text,title,date,source,language" and len(lines) > 3
    assert button.inner_text() == f"{len(lines) - 1} sentences as CSV"
    assert all("Northern Wire" in line for line in lines[1:])
    with page.expect_download() as waiting:
        page.get_by_label(re.compile("All: ")).check()
        page.get_by_role("button", name="RIS", exact=True).click()
    assert Path(waiting.value.path()).read_text("utf-8").count("\nER  -") == len(lines) - 1


def test_clippings_keep_notes_and_tags_and_export_as_citations(
    opens: Opens, site: Site, tmp_path: Path
) -> None:
    page = opens(f"/search?{QUERY}&passages=no", bypass_csp=True)
    texts = page.locator(".hits p.sentence").all_inner_texts()
    day = page.locator("#hit-1 time").first.inner_text()
    page.locator("#hit-1 article").hover()
    page.locator("#hit-1 .clip").click()
    expect(page.locator("#hit-1 .clip")).to_have_text("Saved")
    page.keyboard.press("Escape")
    page.locator("#hit-2 article").focus()
    page.keyboard.press("s")
    expect(page.locator("#hit-2 .clip")).to_have_text("Saved")
    page.get_by_role("link", name="Show more sentences").click()
    expect(page.locator("#hit-11 .clip")).to_have_text("Save")
    follow(page.locator(".told a"))

    expect(clips(page)).to_have_count(2)
    assert clips(page).locator(".sentence").all_inner_texts() == texts[:2]
    assert clips(page).first.locator("time").inner_text() == day
    clips(page).first.get_by_label("Note").fill("Ask the ministry & check")
    clips(page).first.get_by_label("Tags").fill("relief, China, relief")
    clips(page).first.get_by_label("Tags").press("Tab")
    page.reload()
    assert clips(page).first.get_by_label("Tags").input_value() == "relief, China"
    assert violations(page) == []
    page.get_by_label("Show").select_option("China")
    expect(clips(page)).to_have_count(1)
    bibtex = download(page, "BibTeX", tmp_path).read_text("utf-8")
    assert bibtex.count("@article") == 1 and r"annote = {Ask the ministry \& check}" in bibtex
    assert "keywords = {relief, China}" in bibtex and "journal" in bibtex
    page.get_by_label("Show").select_option("")
    table = download(page, "CSV", tmp_path).read_text("utf-8-sig")
    assert len(table.splitlines()) == 3 and "/sentence?id=" in table

    saved = download(page, "Save all to a file", tmp_path)
    for _ in range(2):
        clips(page).first.get_by_role("button", name="Remove").click()
    expect(page.locator("#clippings .none")).to_be_visible()
    chooser = page.get_by_label("Add from a file")
    chooser.set_input_files(tmp_path / "clippings.bib")
    expect(page.locator(".told")).to_contain_text("holds nothing that was saved here")
    chooser.set_input_files(saved)
    expect(clips(page)).to_have_count(2)
    expect(clips(page).first.get_by_label("Note")).to_have_value("Ask the ministry & check")
    page.goto(site.url(f"/search?{QUERY}&passages=no"))
    expect(page.locator("#hit-1 .clip")).to_have_text("Saved")

    page.locator("#hit-2 .headline a.open").click()
    expect(page.locator(".reader .at .clip")).to_have_text("Saved")
    page.locator(".reader .clip", has_text=re.compile("^Save$")).first.click()
    follow(page.locator(".told a"))
    expect(clips(page)).to_have_count(3)
    assert "/document?id=" in (clips(page).last.locator("a.open").get_attribute("href") or "")


def test_no_clipping_is_made_of_a_sentence_that_its_article_has_no_longer(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}&passages=no")
    sentence = page.locator("#hit-1 article").get_attribute("data-sentence-id")
    sentences: list[dict[str, str | None]] = []
    page.route(
        "**/api/v1/document?*",
        lambda route: route.fulfill(json={"id": "changed", "sentences": sentences}),
    )
    for other in ([], [{"id": sentence, "text": "Another sentence has its number now."}]):
        sentences += other
        page.locator("#hit-1 article").hover()
        page.locator("#hit-1 .clip").click()
        expect(page.locator(".told")).to_have_text(
            "The article has changed since this page was loaded: load the page again."
        )
        assert stored(page, "clippings") == []
        expect(page.locator("#hit-1 .clip")).to_have_text("Save")
        page.evaluate("document.querySelector('.told').replaceChildren()")


def test_two_rankings_are_judged_without_showing_which_is_which(
    opens: Opens, site: Site, tmp_path: Path
) -> None:
    page = opens(f"/compare?{QUERY}", bypass_csp=True)
    page.locator(".menu summary", has_text="Right").click()
    follow(page.get_by_role("link", name="Sentence alone"))
    assert "vs.model=bm25" in page.url
    lists = [
        side.locator("article").evaluate_all("all => all.map(e => e.dataset.sentenceId)")
        for side in page.locator(".sides section").all()
    ]
    pool = {sentence for ids in lists for sentence in ids}
    press(page, "Judge")
    expect(page.locator(".sides")).to_be_hidden()
    expect(page.locator(".judging article")).to_be_focused()
    assert violations(page) == []
    for n in range(len(pool)):
        expect(page.locator(".judging .count")).to_contain_text(f"{n} of {len(pool)} judged")
        page.keyboard.press("012"[n % 3])
        if n == 1:  # kept over a reload, which begins with the first that is left
            page.reload()
            press(page, "Judge")
    shares = re.findall(r"(\d+) of (\d+) relevant", page.locator(".outcome").inner_text())
    qrels = read_qrels(download(page, "Export qrels", tmp_path))["earthquake-relief-china"]
    assert qrels.keys() == pool and set(qrels.values()) == {0, 1, 2}
    expected = [(str(sum(qrels[s] > 0 for s in ids)), str(len(ids))) for ids in lists]
    assert shares == expected
    order = list(qrels)
    assert order not in (lists[0] + [s for s in lists[1] if s not in lists[0]], sorted(order))
    topics = download(page, "Export topics", tmp_path).read_text("utf-8")
    assert topics == "earthquake-relief-china\tearthquake relief China\n"
    press(page, "Show the rankings")
    expect(page.locator(".sides")).to_be_visible()


def test_a_pool_from_disk_is_judged_and_stays_there(opens: Opens, site: Site, tmp_path: Path) -> None:
    pool = [
        {
            "topic": t,
            "query": "a strike",
            "sentence_id": f"d{t}.s{n}",
            "text": f"Sentence {n}.",
            "next": "On.",
        }
        for t in ("7", "8")
        for n in range(2)
    ]
    (tmp_path / "pool.jsonl").write_text("".join(json.dumps(line) + "\n" for line in pool), "utf-8")
    page = opens(PAGES["judge"], bypass_csp=True)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.get_by_label("Pool").set_input_files(Path(__file__))
    expect(page.locator(".told")).to_contain_text("This is no pool")
    page.get_by_label("Pool").set_input_files(tmp_path / "pool.jsonl")
    expect(page.locator(".judging .sentence")).to_have_text("Sentence 0.")
    press(page, "2 Highly relevant")
    page.keyboard.press("k")
    expect(page.get_by_role("button", name="Highly relevant")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("1")
    assert violations(page) == []
    qrels = read_qrels(download(page, "Export qrels", tmp_path))
    assert qrels == {"7": {"d7.s0": 0}, "8": {"d8.s0": 1}}
    assert [url for url in sent if not url.startswith("blob:")] == []
    page.on("dialog", lambda dialog: dialog.accept())
    press(page, "Forget all judgements")
    expect(page.locator(".judging .count")).to_contain_text("0 of 4 judged")


def test_without_scripts_or_storage_no_control_is_shown_that_needs_them(opens: Opens, site: Site) -> None:
    off = opens(f"/search?{QUERY}", java_script_enabled=False)
    blocked = opens("/")
    blocked.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } })"
    )
    blocked.goto(site.url(f"/search?{QUERY}"))
    for page in (off, blocked):
        expect(page.locator(".hits article").first).to_be_visible()
        assert page.locator(".saving, .clip").count() == 0
        page.goto(site.url("/saved"))
        assert page.locator("main button:visible, main input:visible").count() <= 1  # Keys
