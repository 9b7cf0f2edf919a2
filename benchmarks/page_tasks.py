"""Seven tasks of readers, performed on a served page in a real browser: their steps and times.

    python -m benchmarks.page_tasks http://127.0.0.1:8080 [--query "travel ban"]

A step is one action: a click, a key, or typing a text. The time is only that of the browser and the server.
The default query is the first example of the first page. A task that cannot be finished is an error.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, sync_playwright

from esr.wording import format_table

EXAMPLES = ".starts li a, .examples a"
"""The examples of the first page; those below stories, or those of a page without stories."""


class Reader:
    """A reader of the page, whose steps are counted."""

    def __init__(self, page: Page, address: str, query: str) -> None:
        self.page, self.address, self.query = page, address.rstrip("/"), query
        self.steps = 0

    def open(self, path: str, **arguments: str) -> None:
        """Open a page to begin with, which does not count as a step."""
        self.page.goto(self.address + path + (f"?{urlencode(arguments)}" if arguments else ""))

    def click(self, target: Locator, leads_on: bool = False) -> None:
        self.steps += 1
        if leads_on:
            with self.page.expect_event("load"):
                target.click()
        else:
            target.click()

    def link(self, name: str) -> None:
        self.click(self.page.get_by_role("link", name=name, exact=True).first, leads_on=True)

    def button(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True).first)

    def menu(self, name: str) -> None:
        self.click(self.page.locator(".menu summary", has_text=name))

    def choose(self, name: str) -> None:
        """Follow a link of the open menu, which may have a line of help below its name."""
        self.click(self.page.locator(".menu[open] a", has_text=name).first, leads_on=True)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.steps += 1
            self.page.keyboard.press(key)

    def search(self, text: str) -> None:
        """Type a text into the box, and press Enter."""
        self.steps += 1
        self.page.locator("#q").fill(text)
        with self.page.expect_event("load"):
            self.press("Enter")

    def save(self, name: str) -> None:
        """Download a file."""
        with self.page.expect_download():
            self.button(name)

    def see(self, selector: str) -> None:
        self.page.locator(selector).first.wait_for()


def visit_first(reader: Reader) -> None:
    """First visit: the first page, and an article from there."""
    reader.open("/")
    reader.click(reader.page.locator(EXAMPLES).first, leads_on=True)
    reader.click(reader.page.locator(".hits a.open").first)
    reader.see(".whole")


def meet_deadline(reader: Reader) -> None:
    """Journalist on deadline: clip the newest sentence, and download its citation."""
    reader.open("/")
    reader.search(reader.query)
    reader.menu("Order")
    reader.choose("Newest first")
    reader.page.locator("#hit-1 article").hover()
    reader.click(reader.page.locator("#hit-1 .clip"))
    reader.click(reader.page.locator(".told a"), leads_on=True)
    reader.save("RIS")


def investigate(reader: Reader) -> None:
    """Investigator: restrict to one source and one period, group by document, and save the search."""
    reader.open("/")
    reader.search(reader.query)
    reader.click(reader.page.locator(".rail .tick").first, leads_on=True)
    bar = reader.page.locator(".rail .plot a", has=reader.page.locator(".bar")).last
    reader.steps += 1
    with reader.page.expect_event("load"):
        bar.click(force=True)
    reader.link("Articles")
    reader.button("Save this search")
    reader.see(".told a")


def check_fact(reader: Reader) -> None:
    """Fact checker: search for a phrase, open its context, and the explanation of a score."""
    reader.open("/")
    reader.search(f'"{reader.query}"')
    reader.page.locator("#hit-1 article").hover()
    reader.click(reader.page.locator("#hit-1 .why"))
    reader.see("#hit-1 .explanation")
    reader.click(reader.page.locator("#hit-1 a.open"))
    reader.see(".whole .hit")


def judge(reader: Reader) -> None:
    """Researcher: compare two rankings, judge ten sentences of each, and download the qrels."""
    reader.open("/search", q=reader.query)
    reader.menu("Ranking")
    reader.link("Compare rankings")
    reader.button("Judge")
    while not reader.page.locator(".outcome").inner_text():
        reader.press(str(reader.steps % 3))
    reader.save("Export qrels")


def read_lines(reader: Reader) -> None:
    """Linguist: show the words in context, sorted by the words after them."""
    reader.open("/")
    reader.search(reader.query)
    reader.link("Concordance")
    reader.menu("Order")
    reader.click(reader.page.locator(".menu[open] a").nth(1), leads_on=True)
    reader.see(".lines .node")


def use_keys(reader: Reader) -> None:
    """Keyboard only: search, open the third sentence in its article, go back, and clip it."""
    reader.open("/search", q=reader.query)
    reader.press("/")
    reader.search(reader.query)
    reader.press("j", "j", "j", "Enter")
    reader.see(".reader")
    reader.press("Escape", "s")
    reader.see(".told a")


TASKS: tuple[Callable[[Reader], None], ...] = (
    visit_first,
    meet_deadline,
    investigate,
    check_fact,
    judge,
    read_lines,
    use_keys,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--query")
    given = parser.parse_args()
    rows = []
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(given.address)
        query = given.query or page.locator(EXAMPLES).first.inner_text()
        page.close()
        for task in TASKS:
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.set_default_timeout(10_000)
            reader = Reader(context.new_page(), given.address, query)
            started = time.perf_counter()
            task(reader)
            seconds = time.perf_counter() - started
            rows.append(((task.__doc__ or "").split(":")[0], str(reader.steps), f"{seconds:.1f}"))
            context.close()
        browser.close()
    print(f"query: {query}\n")
    print(format_table(("task", "steps", "seconds"), rows))


if __name__ == "__main__":
    main()
