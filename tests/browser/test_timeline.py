"""The chart of a timeline: ranges by drag and by keys, and each period as a link without scripts."""

from __future__ import annotations

import re

from playwright.sync_api import Page

from tests.browser.conftest import Opens

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
    page.wait_for_url(re.compile(f"from={names[1]}&to={names[2]}$"))
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
    page.wait_for_url(re.compile(f"from={names[0]}&to={names[1]}$"))


def test_without_scripts_a_period_is_a_link(opens: Opens) -> None:
    page = opens(PAGE, java_script_enabled=False)
    first = page.locator(".plot a").first
    name = first.get_attribute("data-period")
    first.click(force=True)
    page.wait_for_url(re.compile(f"from={name}&to={name}$"))
