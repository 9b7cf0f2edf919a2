"""The pages of the application in a browser, with and without JavaScript, and their accessibility."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opens, Site, follow, query_box
from tests.support.page_corpus import FAILING, PAGES, QUERY
from tests.support.runs import IS_LONG


def downloaded(page: Page, press: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=press).click()
    return Path(waiting.value.path()).read_text("utf-8-sig")


def in_view(page: Page, place: str) -> bool:
    return bool(
        page.locator(place).first.evaluate(
            "e => { const r = e.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; }"
        )
    )


def test_a_result_leads_to_its_place_in_the_shaded_document_and_back(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}", 1000)
    page.locator("#hit-2 .open").click()
    page.wait_for_url("**/document?*#s*")
    place = "#" + page.url.split("#")[1]
    page.wait_for_timeout(100)
    assert in_view(page, place)
    shades = {
        each.split()[0]
        for each in page.locator(".whole [id^=s]").evaluate_all("a => a.map(e => e.className)")
    }
    assert len(shades) >= 3
    page.go_back()
    page.wait_for_url(f"**/search?{QUERY}")
    expect(page.locator("#hit-2 :focus, #hit-2 article:focus")).to_have_count(1)
    follow(page.locator("#hit-2 .open"))
    page.get_by_role("link", name="Back to the sentences").click()
    page.wait_for_url(f"**/search?{QUERY}")


@pytest.mark.parametrize("width", [1920, 1100])
def test_an_article_opens_at_its_sentence_beside_the_list_and_closes(opens: Opens, width: int) -> None:
    page = opens(f"/search?{QUERY}", width, 900, bypass_csp=True)
    page.locator("#hit-2 .open").click()
    reader = page.get_by_role("region", name="Article", exact=True)
    sentence = page.locator("#hit-2 article").get_attribute("data-sentence-id") or ""
    place = f".reader #s{sentence.rsplit('.s', 1)[1]}"
    expect(page.locator(place)).to_have_class(re.compile(r"\bat\b"))
    assert in_view(page, place)
    expect(reader).to_be_focused()
    assert "/search?" in page.url
    assert violations(page) == []
    boxes = reader.bounding_box(), page.locator(".hits").bounding_box()
    assert boxes[0] and boxes[1]
    assert boxes[0]["x"] >= boxes[1]["x"] + boxes[1]["width"], "it covers the list"
    head = reader.locator(".head")
    top = head.bounding_box()
    assert top and top["y"] >= boxes[0]["y"] and in_view(page, ".reader .head")
    for name, part in (("Names", "#names-in-it"), ("Similar articles", "#like-it"), ("Number 1", ".hit")):
        head.get_by_role("link", name=name, exact=True).press("Enter")
        expect(reader.locator(part).first).to_be_in_viewport()
        assert head.bounding_box() == top
    similar = reader.locator(".like-it a.open").first
    title = similar.inner_text()
    similar.click()
    expect(reader.locator("h2").first).to_have_text(title)
    page.keyboard.press("Escape")
    expect(reader).to_have_count(0)
    expect(page.locator("#hit-2 .open")).to_be_focused()


@pytest.mark.parametrize("view", ["timeline", "concordance", "collocations", "names"])
def test_another_query_stays_in_the_view_and_settings_lead_to_the_sentences(opens: Opens, view: str) -> None:
    page = opens(f"/{view}?q=earthquake&from=2017", java_script_enabled=False)
    page.locator("#q").fill("relief")
    page.locator("#q").press("Enter")
    page.wait_for_url(f"**/{view}?q=relief&after=2017")
    page.locator(".controls > summary").click()
    page.get_by_role("button", name="Search with these settings").click()
    page.wait_for_url("**/search?q=relief&after=2017")


def test_escape_leaves_the_box_and_keeps_its_text(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    box = page.locator("#q")
    box.press("Escape")
    expect(box).not_to_be_focused()
    assert box.input_value()


def test_back_closes_an_article_and_forward_and_a_reload_open_it_again(opens: Opens) -> None:
    page = opens("/", 1280)
    page.goto(page.url + f"search?{QUERY}")
    reader = page.get_by_role("region", name="Article", exact=True)
    page.locator("#hit-2 .open").click()
    title = reader.locator("h2").first.inner_text()
    reader.get_by_role("link", name="Similar articles", exact=True).click()
    expect(reader.locator("#like-it")).to_be_in_viewport()
    page.go_back()
    expect(reader).to_have_count(0)
    assert "/search?" in page.url
    page.go_forward()
    expect(reader.locator("h2").first).to_have_text(title)
    page.reload()
    expect(reader.locator("h2").first).to_have_text(title)
    reader.get_by_role("button", name="Close").click()
    expect(reader).to_have_count(0)
    page.go_back()
    page.wait_for_url("**/")


def test_copying_the_text_of_an_article_copies_the_text_alone(opens: Opens) -> None:
    page = opens(PAGES["document"])
    assert page.locator(".whole .why").count() and page.locator(".whole .clip").count()
    copied = page.evaluate(
        """() => {
          const paragraphs = document.querySelectorAll(".whole > p");
          const last = paragraphs[paragraphs.length - 1];
          getSelection().setBaseAndExtent(paragraphs[0], 0, last, last.childNodes.length);
          return getSelection().toString();
        }"""
    )
    assert len(copied) > 200 and not re.search(r"Why|Save|shade", copied)


def test_the_best_sentence_of_a_document_is_the_darkest(opens: Opens) -> None:
    page = opens(PAGES["document"])
    page.get_by_role("link", name="Go to the best sentence").click()
    best = page.locator(".whole .best")
    assert "shade-5" in (best.get_attribute("class") or "")
    spoken = page.locator(".whole .why").all_text_contents()
    assert all(re.fullmatch(r"Why: shade [0-5] of 5", text) for text in spoken), spoken
    assert best.locator(".why").text_content() == max(spoken) == "Why: shade 5 of 5"


def test_an_explanation_opens_in_place_and_closes(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    why = page.locator("#hit-1 .why")
    why.click()
    table = page.locator("#hit-1 .explanation")
    expect(table).to_be_visible()
    assert why.get_attribute("aria-expanded") == "true"
    added = [float(t.replace("−", "-")) for t in table.locator(".bars tbody .number").all_inner_texts()]
    score = float(table.locator(".bars tfoot .number").inner_text().replace("−", "-"))
    assert abs(sum(added) - score) < 0.01
    table.get_by_text("Arithmetic").click()
    expect(table.get_by_role("columnheader", name="p(t|C)")).to_be_visible()
    why.click()
    expect(table).to_have_count(0)


def test_the_tree_of_a_sentence_shows_the_distance_of_the_query_words(opens: Opens) -> None:
    page = opens(PAGES["explain"])
    tree = page.get_by_role("img", name="Dependency tree of")
    expect(tree).to_be_visible()
    # Two outlined words, and between them ways in the accent.
    assert tree.locator("rect").count() == 2
    assert tree.locator('path[stroke-width="2.5"]').count() > 0
    row = page.locator(".apart tr")
    assert row.count() == 1
    assert "earthquake" in row.inner_text() and "China" in row.inner_text() and "link" in row.inner_text()


def test_the_second_stage_is_a_part_of_the_explanation(opens: Opens) -> None:
    page = opens(PAGES["second stage"])
    parts = page.locator(".bars tbody th").all_inner_texts()
    assert "signal mrf_sdm" in parts and "feature subj step" in parts
    page.get_by_text("Arithmetic").click()
    expect(page.get_by_text("first stage", exact=True)).to_be_visible()


def test_two_rankings_are_shown_side_by_side_with_what_moved(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    page.locator(".menu summary", has_text="Ranking").click()
    page.get_by_role("link", name="Compare rankings").click()
    page.locator(".sides section").nth(1).wait_for()  # `all` does not wait for the page that was clicked
    left, right = page.locator(".sides section").all()
    assert [side.locator("h2").inner_text() for side in (left, right)] == ["With context", "Sentence alone"]
    boxes = left.bounding_box(), right.bounding_box()
    assert boxes[0] and boxes[1] and boxes[0]["y"] == boxes[1]["y"]
    moves = page.locator(".moved").all_inner_texts()
    assert any("higher" in text for text in moves) or any("only here" in text for text in moves)


def test_the_controls_follow_the_model_and_make_a_short_complete_address(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    page.locator(".controls > summary").click()
    page.locator(".tuning > summary").click()
    page.get_by_label("Model", exact=True).select_option("bm25")
    expect(page.locator(r"#bm25\.k1")).to_be_visible()
    expect(page.get_by_label("mu", exact=True).first).to_be_hidden()
    page.locator(r"#bm25\.k1").fill("1.5")
    page.get_by_label("Signal 1", exact=True).select_option("tdsr")
    page.get_by_label("Weight (signal 1)").fill("2")
    page.get_by_label("Group by document").check()
    page.get_by_role("button", name="Search with these settings").click()
    page.wait_for_url("**group=document**")
    assert "form=" not in page.url and "params.k1=1.5" in page.url and "rerank=tdsr" in page.url
    shown = page.locator(".hits p.sentence").all_inner_texts()
    again = opens(page.url[page.url.index("/search") :], java_script_enabled=False)
    assert again.locator(".hits p.sentence").all_inner_texts() == shown
    again.locator(".controls > summary").click()
    assert again.get_by_label("Model", exact=True).input_value() == "bm25"
    assert again.get_by_label("Signal 1", exact=True).input_value() == "tdsr"


def test_a_preset_sets_the_ranking_and_keeps_what_was_typed(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}&source=Northern+Wire&params.mu=5")
    query_box(page).fill("harbour pilot")
    query_box(page).blur()  # closes the completions, which lie over the menu
    page.locator(".menu summary", has_text="Ranking").click()
    page.get_by_role("button", name="Sentence alone").click()
    page.wait_for_url("**/search?q=harbour+pilot&source=Northern+Wire&model=bm25")
    expect(page.locator(".menu summary", has_text="Ranking")).to_contain_text("Sentence alone")


def test_pasted_queries_are_answered_with_a_table(opens: Opens) -> None:
    page = opens("/batch?model=bm25")
    page.get_by_label("Queries").fill("earthquake relief\nferry harbour")
    page.get_by_label("Sentences per query").fill("3")
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "Search for all queries"))))
    assert {row["query"] for row in rows} == {"earthquake relief", "ferry harbour"}
    assert [row["rank"] for row in rows if row["id"] == "1"] == ["1", "2", "3"]


def test_an_uploaded_file_of_queries_is_answered_with_a_run(opens: Opens, tmp_path: Path) -> None:
    file = tmp_path / "topics.tsv"
    file.write_text("t7\tearthquake relief\nt8\tferry\n")
    page = opens("/batch")
    page.get_by_label("or upload a file").set_input_files(file)
    page.get_by_label("Format").select_option("run")
    lines = downloaded(page, "Search for all queries").splitlines()
    assert {line.split()[0] for line in lines} == {"t7", "t8"}
    assert all(len(line.split()) == 6 for line in lines)


def test_a_bad_query_among_many_is_named_and_nothing_that_was_typed_is_lost(opens: Opens) -> None:
    page = opens("/batch", fails=True)
    queries, alert = page.get_by_label("Queries"), page.get_by_role("alert")
    queries.fill("earthquake\nthe and")
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "Search for all queries"))))
    assert {row["id"] for row in rows if row["text"]} == {"1"}
    ((bad, why),) = [(row["query"], row["incomplete"]) for row in rows if row["id"] == "2"]
    assert bad == "the and" and "the query has only stop words" in why
    assert queries.input_value() == "earthquake\nthe and"
    page.get_by_label("Format").select_option("run")  # has no line for it
    page.get_by_role("button", name="Search for all queries").click()
    expect(alert).to_contain_text("This query cannot be searched for")
    expect(alert).to_contain_text("2: the query has only stop words")
    assert queries.input_value() == "earthquake\nthe and"
    queries.fill("of\nthe and")
    page.get_by_role("button", name="Search for all queries").click()
    expect(alert).to_contain_text("Query '1': the query has only stop words")
    assert queries.input_value() == "of\nthe and"


OFF: dict[str, Any] = {"java_script_enabled": False}


def test_search_settings_more_sentences_and_explanations_need_no_javascript(opens: Opens) -> None:
    page = opens("/", **OFF)
    page.get_by_role("searchbox").fill("earthquake relief China")
    page.get_by_role("button", name="Search", exact=True).click()
    page.wait_for_url(f"**/search?{QUERY}")
    page.locator(".controls > summary").click()
    page.get_by_label("List sentences one by one").check()
    page.get_by_role("button", name="Search with these settings").click()
    page.wait_for_url(f"**/search?{QUERY}&passages=no")
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
    assert "passages=no" in page.url
    assert "params." not in page.url  # those of the model chosen before are left
    page.locator(".controls > summary").click()
    page.locator(".tuning > summary").click()
    expect(page.locator(r"#bm25\.k1")).to_be_visible()


def test_every_page_works_without_javascript(visits: Opens) -> None:
    for name, path in PAGES.items():
        page = visits(path, fails=name in FAILING, **OFF)
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


AXE = Axe()
SETTINGS = ".controls"
"""The settings of a search, most of the elements of a page. They are the same on every page."""
WITH_SETTINGS = (
    PAGES if IS_LONG else ("home", "results", "narrowed", "error", "document", "checked", "evidence")
)
"""The pages on which they are checked too: with values, with an error, and with each style sheet."""
_RULES = """left => axe.run(
  { exclude: left }, { resultTypes: ["violations"], rules: { "color-contrast": { enabled: false } } }
)"""
_COLOURS = """left => {
  const backgrounds = new Map();
  const background = element => {
    if (!element) return "";
    if (!backgrounds.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const own = [backgroundColor, backgroundImage, opacity].join();
      backgrounds.set(element, `${own}|${background(element.parentElement)}`);
    }
    return backgrounds.get(element);
  };
  const first = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    const isText = node => node.nodeType === Node.TEXT_NODE && node.data.trim();
    if (![...element.childNodes].some(isText) && !element.matches("input, select, textarea")) continue;
    if (left.some(selector => element.closest(selector)) || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const look = [color, fontSize, fontWeight, textShadow, background(element)].join("|");
    if (!first.has(look)) first.set(look, element);
  }
  return axe.run(
    { include: [...first.values()] }, { resultTypes: ["violations"], runOnly: ["color-contrast"] }
  );
}"""
"""The contrast of one text of each colour, size and background: that of all of a page takes ten seconds."""


def violations(page: Page, colours: bool = True, without: str | None = None) -> list[str]:
    """What axe finds in a page, but in the element `without`."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    left = [without] if without else []
    found = page.evaluate(_RULES, left)["violations"]
    if colours:
        found += page.evaluate(_COLOURS, left)["violations"]
    return [f"{v['id']}: {node['target']} {node.get('failureSummary')}" for v in found for node in v["nodes"]]


def unfold(page: Page) -> None:
    """Open what is folded."""
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")


def is_wider_than(page: Page, width: int) -> bool:
    page.set_viewport_size({"width": width, "height": 900})
    return bool(page.evaluate("document.documentElement.scrollWidth") > width)


# The rules are put into the page, which its content policy forbids.
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation_on_any_page_and_none_is_wider_than_the_screen(
    visits: Opens, name: str
) -> None:
    """A phone in the dark, where a page is opened, and a wide screen in the light."""
    page = visits(PAGES[name], 390, fails=name in FAILING, bypass_csp=True)
    without = None if name in WITH_SETTINGS else SETTINGS
    for is_unfolded in (False, True) if IS_LONG else (True,):
        if is_unfolded:
            unfold(page)
        page.emulate_media(color_scheme="dark")
        assert not is_wider_than(page, 390)
        assert violations(page, without=without) == []
        page.emulate_media(color_scheme="light")
        assert not is_wider_than(page, 1280)
        assert violations(page, without=without) == []
    assert not is_wider_than(page, 320)


def test_axe_finds_no_violation_in_what_javascript_opens(opens: Opens) -> None:
    page = opens(PAGES["results"], bypass_csp=True)
    page.locator(".hits .why").first.click()
    page.locator(".hits .explanation").first.wait_for()
    page.get_by_role("button", name="Keys").click()
    assert violations(page) == []


@pytest.mark.parametrize("name", ["results", "checked", "evidence", "collection", "over time"])
def test_tab_reaches_every_control_and_the_focus_is_visible(opens: Opens, name: str) -> None:
    page = opens(PAGES[name])
    wanted = page.evaluate(
        """() => [...document.querySelectorAll("a, button, input, select, summary")]
                 .filter(e => e.checkVisibility() && e.tabIndex >= 0 && !e.disabled).length"""
    )
    reached = set()
    for _ in range(wanted + 40):
        page.keyboard.press("Tab")
        place = page.evaluate(
            """() => { const e = document.activeElement;
                 if (e === document.body) return null;
                 const style = getComputedStyle(e);
                 const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
                 const kind = e.matches("a, button, input, select, summary");
                 return [[...document.querySelectorAll("*")].indexOf(e), kind, shown]; }"""
        )
        if place is None or place[0] in reached:
            break
        assert place[2], page.evaluate("document.activeElement.outerHTML")[:200]
        if place[1]:
            reached.add(place[0])
    assert len(reached) == wanted


def test_the_first_tab_stop_skips_the_form(opens: Opens) -> None:
    page = opens(PAGES["results"])
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the sentences"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_number_of_results_and_the_landmarks_are_announced(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    assert "sentence" in page.locator(".count[role=status]").inner_text()
    for name in ("banner", "search", "main"):
        assert page.get_by_role(name).count() == 1, name
    assert page.get_by_role("heading", level=1).count() == 1


COVERED = """() => {
  const faults = [];
  for (const element of document.querySelectorAll("a, button, input, select, textarea, summary")) {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.closest(".skip, .spoken")) continue;
    element.scrollIntoView({ block: "center" });
    const places = [element, ...(element.labels ?? [])];
    for (const box of element.getClientRects()) {
      for (const share of box.width > 2 && box.height > 2 ? [.15, .5, .85] : []) {
        const over = document.elementFromPoint(box.left + box.width * share, box.top + box.height / 2);
        if (over && !over.contains(element) && !places.some(place => place.contains(over)))
          faults.push(`${element.outerHTML.slice(0, 120)} is under ${over.outerHTML.slice(0, 120)}`);
      }
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the screen");
  return faults;
}"""
"""What lies over a control, which could not be read or clicked, and whether a page is too wide."""


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_at_twice_the_size_nothing_is_covered_and_no_page_is_wider_than_the_screen(
    opens: Opens, language: str
) -> None:
    """A screen of 1280 by 900 at a zoom of 200 % is one of 640 by 450 with pixels of twice the size."""
    page = opens("/", 640, 450, fails=True, device_scale_factor=2, locale=language)
    begin = page.url.rstrip("/")
    names = PAGES if language == "en" else ("results", "narrowed", "understood", "timelines", "evidence")
    faults = {}
    for name in names:
        page.goto(f"{begin}{PAGES[name]}")
        faults[name] = page.evaluate(COVERED)
    assert page.locator("html").get_attribute("lang") == language
    assert faults == {name: [] for name in names}


def test_a_narrow_map_of_the_collection_begins_at_its_newest_end(opens: Opens) -> None:
    page = opens(PAGES["collection"], 220)
    newest = page.locator("table.heat tbody tr").first.locator("td").last
    expect(newest).to_be_in_viewport()
    first = page.locator("table.heat tbody th").first
    assert page.locator(".from-end").evaluate("box => box.scrollWidth > box.clientWidth")
    expect(first).to_be_in_viewport(ratio=0.9)


def test_the_line_above_a_concordance_is_one_line(opens: Opens) -> None:
    page = opens("/concordance?q=relief&sort=right1", 1280)
    tops = (
        page.locator(".toolbar")
        .nth(1)
        .locator(":scope > *")
        .evaluate_all(
            "all => all.map(each => each.getBoundingClientRect()).map(box => box.top + box.height / 2)"
        )
    )
    assert len(tops) == 5 and max(tops) - min(tops) < 12


@pytest.mark.parametrize("name", ["results", "collection"])
def test_marks_bars_and_shades_remain_in_forced_colours(opens: Opens, name: str) -> None:
    page = opens(PAGES[name], forced_colors="active", color_scheme="dark")
    seen = page.evaluate(
        """() => [...document.querySelectorAll("mark, .heat td:not(.number), .bar")]
             .filter(e => e.checkVisibility())
             .map(e => [e.tagName, getComputedStyle(e).backgroundColor, getComputedStyle(e).fill])"""
    )
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert seen and all(color != ground or fill != ground for _, color, fill in seen)
