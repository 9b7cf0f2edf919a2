"""The chart of a timeline: ranges by drag and by keys, and each period as a link without scripts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opens, Site, follow, query_box
from tests.support.page_corpus import HOSTILE, QUERY
from webui.arguments.links import end_of


def sentences(page: Page) -> list[str]:
    return page.locator(".hits p.sentence").all_inner_texts()


def test_a_search_highlights_its_words_between_the_neighbouring_sentences(opens: Opens) -> None:
    page = opens("/")
    query_box(page).fill("earthquake relief")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=earthquake+relief")
    assert page.title().startswith("earthquake relief")
    marked = {text.lower() for text in page.locator(".sentence mark").all_inner_texts()}
    assert "earthquake" in marked and marked <= {"earthquake", "relief"}
    first = page.locator(".hits article").nth(1)
    size, near = (
        first.locator(each).first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
        for each in (".sentence", ".near")
    )
    assert size > near
    assert "serif" in page.locator("p.sentence").first.evaluate("e => getComputedStyle(e).fontFamily").split(
        ", "
    )


def test_more_sentences_appear_without_moving_the_others(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}&fold=no&passages=no")
    before, height = sentences(page), page.locator("#hit-10").bounding_box()
    page.locator("#hit-1 .why").click()
    page.locator("#hit-1 .explanation").wait_for()
    page.get_by_role("link", name="Show more sentences").click()
    page.locator("#hit-20").wait_for()
    assert page.locator("#hit-1 .explanation").count() == 1
    assert sentences(page)[:10] == before
    assert page.locator("#hit-10").evaluate("e => e.offsetTop") > 0
    after = page.locator("#hit-10").bounding_box()
    assert height and after and height["height"] == after["height"] and height["x"] == after["x"]
    assert page.url.endswith("k=20")
    assert "20 shown" in page.locator(".foot .fine").inner_text()
    expect(page.locator("#hit-11 article")).to_be_focused()
    page.reload()
    assert len(sentences(page)) == 20


def test_duplicates_of_a_wire_story_are_folded_and_can_be_opened(opens: Opens) -> None:
    for arguments, count in (("", 2), ("&passages=no", 1)):  # the first passage has two sentences
        folded = opens(f"/search?{QUERY}{arguments}").locator(".similar").first
        assert folded.locator("summary").inner_text() == f"The same in {count} more"
        expect(folded.locator("q")).to_have_count(count)
        expect(folded.locator("q").last).to_be_hidden()
        folded.locator("summary").click()
        expect(folded.locator("q").last).to_be_visible()
        assert "Evening Post" in folded.inner_text() or "Northern Wire" in folded.inner_text()


def test_results_can_be_grouped_by_document_and_sorted_by_date(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    follow(page.get_by_role("link", name="Articles"))
    assert page.locator(".hits h2").count() == page.locator(".hits > li").count()
    page.locator(".menu summary", has_text="Order").click()
    follow(page.get_by_role("link", name="Newest first"))
    days = page.locator(".hits h2 time").all_inner_texts()
    years = [day.split()[-1] for day in days]
    assert years == sorted(years, reverse=True)


def test_a_value_of_the_rail_filters_by_as_many_sentences_as_it_counts(
    opens: Opens,
) -> None:
    page = opens("/search?q=China")
    for field, name in (("Sources", "Northern Wire"), ("Places", "China")):
        row = page.get_by_role("region", name=field).locator("li", has_text=name)
        count = int(row.locator(".number").inner_text().replace(",", ""))
        follow(row.get_by_role("link", name=name, exact=True))
        assert page.locator(".count").inner_text().startswith(f"{count:,} sentence")
    assert page.locator(".chips:not(.query) li").count() == 2
    follow(page.get_by_role("region", name="Places").locator("a.chosen"))
    assert page.url.endswith("/search?q=China&source=Northern+Wire")


def test_the_boxes_for_dates_show_whole_dates(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}&after=2000-12-28&before=2030-12-30", locale="ar")
    cut = "boxes => boxes.map(box => box.scrollWidth - box.clientWidth)"
    assert max(page.locator(".days input").evaluate_all(cut)) <= 0


def test_a_value_is_excluded_by_one_click(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    row = page.get_by_role("region", name="Sources").locator("li", has_text="Northern Wire")
    row.hover()
    follow(row.get_by_role("link", name="Without Northern Wire"))
    assert "Northern Wire" not in page.locator(".hits").inner_text()
    follow(page.get_by_role("link", name="Remove: excluded"))
    assert page.url.endswith(f"/search?{QUERY}")


def test_a_bar_of_the_chart_limits_the_results_to_its_days(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}", java_script_enabled=False)
    bar = page.locator(".rail .plot a", has=page.locator(".bar")).last
    period = bar.get_attribute("data-period")
    bar.click(force=True)
    page.wait_for_url(f"**after={period}&before={end_of(str(period))}")
    assert page.locator(".rail .plot a.within").count() == 1
    assert page.locator(".rail .plot a").count() > 1
    page.get_by_label("From", exact=True).fill("2000")
    page.get_by_role("button", name="Go").click()
    page.wait_for_url("**after=2000**")


def test_names_of_a_sentence_are_in_its_context_and_lead_to_their_pages(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}")
    article = page.locator("article", has=page.locator(".entity")).first
    expect(article.locator(".entity").first).to_be_hidden()
    article.hover()
    article.get_by_text("Context").click()
    follow(article.locator(".entity", has_text="China").first)
    assert "/name?" in page.url
    expect(page.locator("h1")).to_contain_text("China")
    follow(page.get_by_role("link", name="Sentences for"))
    assert "entity=location%3AChina" in page.url
    assert all("China" in text for text in sentences(page))


def test_neighbours_take_a_line_each_until_the_context_is_opened(opens: Opens) -> None:
    for width, on_phone in ((1280, False), (390, True)):
        page = opens(f"/search?{QUERY}&passages=no", width=width)
        near = page.locator("#hit-2 .near").first
        near.evaluate("e => { e.textContent = 'word '.repeat(60) }")
        line = 1.5 * near.evaluate("e => parseFloat(getComputedStyle(e).lineHeight)")
        clipped = near.bounding_box()
        assert on_phone == (clipped is None)
        assert clipped is None or clipped["height"] < line
        page.locator("#hit-2 article").hover()
        page.locator("#hit-2").get_by_text("Context").click()
        opened = near.bounding_box()
        assert opened and opened["height"] > line


LONG = "'a word of it '.repeat(15)"
LENGTHEN = f"""all => all.forEach(each => {{
    const end = document.createElement('span');
    end.className = 'end';
    end.textContent = {LONG}.repeat(3);
    each.querySelectorAll('.near').forEach(text => {{ text.textContent = {LONG} }});
    each.querySelector('.sentence:not(.also)').className = 'sentence cut';
    each.querySelector('.cut').replaceChildren({LONG}, end);
}})"""
"""Makes the best sentence of each hit one of 240 words, of which 60 are shown."""


def test_the_end_of_a_very_long_sentence_is_hidden_until_the_context_is_opened(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}&passages=no")
    page.locator(".hits article").evaluate_all(LENGTHEN)
    sentence, end = page.locator("#hit-2 .sentence"), page.locator("#hit-2 .end")
    context = page.locator("#hit-2").get_by_text("Context")
    assert sentence.evaluate("e => getComputedStyle(e, '::after').content") == '" …"'
    expect(end).to_be_hidden()
    page.locator("#hit-2 article").hover()
    context.click()
    expect(end).to_be_visible()
    assert sentence.evaluate("e => getComputedStyle(e, '::after').content") == "none"
    sentence.click()
    expect(end).to_be_visible()
    context.click()
    expect(end).to_be_hidden()
    sentence.click()
    expect(end).to_be_visible()


@pytest.mark.parametrize(("width", "height", "whole"), [(1280, 900, 3), (1920, 1080, 5), (390, 844, 2)])
def test_several_hits_fit_on_a_screen_if_all_are_long(
    opens: Opens, width: int, height: int, whole: int
) -> None:
    touch = {"has_touch": True, "is_mobile": True} if width < 500 else {}
    page = opens("/search?q=%2Bearthquake+relief+China&passages=no&fold=no", width, height, **touch)
    expect(page.get_by_role("link", name="Search for these words literally")).to_be_visible()
    hits = page.locator(".hits > li:has(.around)")
    page.locator(".hits article").evaluate_all(LENGTHEN)
    heights = hits.evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
    above = page.locator("#hit-1").evaluate("e => e.getBoundingClientRect().top")
    assert above + whole * max(heights) <= height


@pytest.mark.parametrize(("width", "height", "whole"), [(1280, 900, 3), (1920, 1080, 5), (390, 844, 2)])
def test_so_many_whole_hits_fit_on_a_screen(opens: Opens, width: int, height: int, whole: int) -> None:
    touch = {"has_touch": True, "is_mobile": True} if width < 500 else {}
    page = opens(f"/search?{QUERY}&passages=no", width, height, **touch)
    bottoms = page.locator(".hits > li").evaluate_all("all => all.map(e => e.getBoundingClientRect().bottom)")
    assert sum(bottom <= height for bottom in bottoms) >= whole
    if touch:
        links = ".toolbar a, .toolbar summary, .actions > a, .actions summary, .headline a, .top .name a"
        small = page.locator(links).evaluate_all(
            """all => all.filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 40)
                         .map(e => e.textContent)"""
        )
        assert small == []


def test_the_rail_is_a_sheet_where_the_screen_is_narrow(opens: Opens) -> None:
    wide = opens(f"/search?{QUERY}", java_script_enabled=False)
    expect(wide.get_by_role("region", name="Sources")).to_be_visible()
    assert 640 <= wide.locator(".text").first.evaluate("e => e.getBoundingClientRect().width") <= 760
    narrow = opens(f"/search?{QUERY}", 390, 844, java_script_enabled=False)
    expect(narrow.get_by_role("region", name="Sources")).to_be_hidden()
    narrow.get_by_text("Filters", exact=True).click()
    expect(narrow.get_by_role("region", name="Sources")).to_be_visible()


def test_a_long_title_leaves_room_for_the_links_beside_it(opens: Opens) -> None:
    page = opens(f"/search?{QUERY}", 390, 844, has_touch=True, is_mobile=True)
    page.get_by_role("link", name="Saved", exact=True).wait_for()
    page.locator(".name a").evaluate("e => { e.textContent = 'Evening Post archive of 1920'; }")
    boxes = [
        (box["x"], box["x"] + box["width"])
        for each in page.locator(".top").locator(".name, .how, .controls > summary").all()
        if (box := each.bounding_box()) is not None
    ]
    boxes.sort()
    assert len(boxes) == 4
    assert all(end <= start for (_, end), (start, _) in pairwise(boxes))


def test_a_page_without_results_lists_the_unknown_words(opens: Opens) -> None:
    page = opens("/search?q=zyxgarble+blorf")
    notice = page.locator(".nothing")
    expect(notice).to_contain_text("No sentences found")
    assert notice.locator("strong").all_inner_texts() == ["zyxgarble", "blorf"]


def test_an_incomplete_answer_says_so_above_it(opens: Opens, site: Site) -> None:
    site.index.incomplete = "1 of 3 shards failed"
    page = opens("/", java_script_enabled=False)
    site.index.incomplete = "1 of 3 shards failed"
    page.goto(site.url(f"/search?{QUERY}"))
    expect(page.get_by_role("alert")).to_contain_text("1 of 3 shards failed")
    assert sentences(page)


def test_hostile_text_is_only_text(opens: Opens) -> None:
    for path in (
        "/search?q=harbour+pilot+wrote",
        "/document?id=hostile&q=pilot",
        "/explain?id=hostile.s0&q=pilot",
        "/compare?q=pilot&vs.model=bm25",
    ):
        page = opens(path)
        assert page.evaluate("window.pwned") is None
        assert page.locator("main img, main script").count() == 0
        assert HOSTILE.split("\u202e")[0] in page.locator("main").inner_text()
        assert page.locator("a[href^='javascript']").count() == 0


def test_the_fields_of_sources_and_names_complete_what_is_typed(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.facets.VALUES", 1)
    page = opens(f"/search?{QUERY}")
    field = page.get_by_label("Find in sources")
    field.press_sequentially("north")
    options = page.locator(f"#{field.get_attribute('list')} option")
    expect(options.first).to_have_attribute("value", "Northern Wire")
    field.fill("Northern Wire")
    with page.expect_event("load"):
        field.press("Enter")
    assert page.url.endswith(f"/search?{QUERY}&source=Northern+Wire")
    page = opens("/")
    page.locator(".controls > summary").click()
    field = page.get_by_label("Name in the sentence", exact=True)
    field.press_sequentially("chi")
    expect(page.locator(f"#{field.get_attribute('list')} option").first).to_have_attribute("value", "China")


def test_a_facet_ends_with_a_link_to_more_of_its_values(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.facets.VALUES", 1)
    page = opens(f"/search?{QUERY}", java_script_enabled=False)
    sources = page.get_by_role("region", name="Sources")
    assert sources.locator("li:not(.more-values)").count() == 1
    sources.get_by_role("link", name="More sources").click()
    expect(sources.locator("li:not(.more-values)").nth(1)).to_be_visible()
    sources.get_by_role("link", name="Fewer sources").click()
    page.wait_for_url(f"**/search?{QUERY}#facet-source")


PAGE = "/timeline?q=the+earthquake&also=relief&interval=month"


def periods(page: Page) -> list[str]:
    columns = page.locator(".plot a").all()
    return [column.get_attribute("data-period") or "" for column in columns]


def test_arrow_keys_choose_a_range_and_enter_shows_it(opens: Opens) -> None:
    page = opens(PAGE)
    names = periods(page)
    page.locator(".plot").focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    assert page.locator(".pick").inner_text() == f"{names[1]} to {names[2]}. Enter shows it alone."
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"after={names[1]}&before={end_of(names[2])}$"))
    assert set(periods(page)) <= set(names[1:3])


def test_a_drag_shows_its_range(opens: Opens) -> None:
    page = opens(PAGE)
    names = periods(page)
    box = page.locator(".plot svg").bounding_box()
    assert box
    width = box["width"] / len(names)
    page.mouse.move(box["x"] + 0.5 * width, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 1.5 * width, box["y"] + 20)
    page.mouse.up()
    page.wait_for_url(re.compile(f"after={names[0]}&before={end_of(names[1])}$"))


def test_the_chart_is_saved_as_an_image_that_the_browser_paints(opens: Opens) -> None:
    page = opens(PAGE)
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Chart as PNG").click()
    assert download.value.suggested_filename == "timeline.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


def test_without_scripts_a_period_is_a_link(opens: Opens) -> None:
    page = opens(PAGE, java_script_enabled=False)
    first = page.locator(".plot a").first
    name = first.get_attribute("data-period")
    first.click(force=True)
    page.wait_for_url(re.compile(rf"/search\?.*require=all&after={name}&before={end_of(str(name))}$"))


# What a browser makes of other scripts than Latin.


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
    page = opens(f"/search?{QUERY}&passages=no")
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


def test_the_words_that_no_sentence_has_are_apart_from_the_first_sentence(opens: Opens) -> None:
    page = opens("/search?q=earthquake+zyxgarble")
    line, hits = page.locator("p.ignored:has(strong)").bounding_box(), page.locator(".hits").bounding_box()
    assert line and hits
    assert hits["y"] - line["y"] - line["height"] >= 4


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marked_words_have_their_own_ground_in_forced_colours(opens: Opens, scheme: Any) -> None:
    page = opens(f"/search?{QUERY}&passages=no", forced_colors="active", color_scheme=scheme)
    colors = page.locator("mark").evaluate_all(
        "marks => marks.map((m) => [getComputedStyle(m).color, getComputedStyle(m).backgroundColor])"
    )
    assert colors
    for ink, ground in colors:
        assert ink != ground and ground == "rgb(255, 255, 0)" and ink == "rgb(0, 0, 0)"


def test_who_copies_an_article_copies_no_buttons(opens: Opens) -> None:
    page = opens(f"/document?id=earthquake-relief&{QUERY}")
    page.locator(".whole .clip").first.wait_for()
    text = page.evaluate(
        "() => { getSelection().selectAllChildren(document.querySelector('.whole'));"
        " return `${getSelection()}`; }"
    )
    assert "relief" in text
    assert "Why" not in text and "Save" not in text
