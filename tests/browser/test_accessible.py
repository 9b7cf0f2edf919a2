from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import Opens
from tests.support.page_addresses import FAILING, PAGES, QUERY

AXE = Axe()


def violations(page: Page) -> list[str]:
    found = AXE.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{v['id']}: {node['target']} {node.get('failureSummary')}" for v in found for node in v["nodes"]]


def unfold(page: Page) -> bool:
    """Open what is folded. Whether anything was."""
    return bool(
        page.evaluate(
            """() => {
                const folded = [...document.querySelectorAll("details:not([open])")];
                folded.forEach(each => { each.open = true });
                return folded.length;
            }"""
        )
    )


def is_wider_than(page: Page, width: int) -> bool:
    page.set_viewport_size({"width": width, "height": 900})
    return bool(page.evaluate("document.documentElement.scrollWidth") > width)


# The rules are put into the page, which its content policy forbids.
@pytest.mark.parametrize(
    "scheme, width, narrower", [("light", 1280, None), ("dark", 390, 320)], ids=["light-1280", "dark-390"]
)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation_on_any_page_and_none_is_wider_than_the_screen(
    opens: Opens, name: str, scheme: str, width: int, narrower: int | None
) -> None:
    page = opens(PAGES[name], width, fails=name in FAILING, color_scheme=scheme, bypass_csp=True)
    assert violations(page) == []
    if unfold(page):
        assert violations(page) == []
    assert not is_wider_than(page, width)
    assert not (narrower and is_wider_than(page, narrower))


def test_axe_finds_no_violation_in_what_javascript_opens(opens: Opens) -> None:
    page = opens(PAGES["results"], bypass_csp=True)
    page.locator(".hits .why").first.click()
    page.locator(".hits .explanation").first.wait_for()
    page.get_by_role("button", name="Keys").click()
    assert violations(page) == []


def test_tab_reaches_every_control_and_the_focus_is_visible(opens: Opens) -> None:
    page = opens(PAGES["results"])
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
    assert "13 with any" in page.get_by_role("status").first.inner_text()
    for name in ("banner", "search", "main"):
        assert page.get_by_role(name).count() == 1, name
    assert page.get_by_role("heading", level=1).count() == 1
