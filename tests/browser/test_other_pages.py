"""Pages of other kinds in Chromium: examples/elasticsearch.html, which searches a real node, and a report."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from esr.lab.report.gains import compute_gains
from esr.lab.report.moves import find_moves, render_moves
from esr.lab.report.page import ReportPage
from esr.lab.report.page import render as render_report
from esr.lab.results import evaluate_runs
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, fresh, load

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ROOT = Path(__file__).resolve().parents[2]


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def where(elasticsearch_url: str) -> Iterator[str]:
    with fresh(elasticsearch_url) as location:
        known = {"title": "Relief <b>arrives</b>", "date": "2017-03-05", "source": "North"}
        load(location, [document("a", "Relief teams & <i>relief</i> goods came.", "They stayed.", **known)])
        yield location


@pytest.fixture
def page(browser: Browser, where: str) -> Iterator[Page]:
    """The page, opened. The node's answers are real; what it must allow is added, as other tests share it."""

    def forward(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, headers={**answer.headers, "access-control-allow-origin": "*"})

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(ROOT)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    context = browser.new_context()
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.route(f"{where.rpartition('/')[0]}/**", forward)
    page.goto(f"http://127.0.0.1:{server.server_port}/examples/elasticsearch.html?index={where}")
    yield page
    context.close()
    server.shutdown()
    thread.join()
    server.server_close()
    assert not problems


def test_the_example_page_shows_sentences_with_marks(page: Page, where: str) -> None:
    page.get_by_label("Words").fill("reliefs")
    page.get_by_label("Source").fill("North")
    page.get_by_label("After").fill("2017-03")
    page.get_by_role("button").click()
    page.get_by_text("The best 2 sentences").wait_for()
    with open_searcher(where) as searcher:
        texts = [hit.text for hit in searcher.search("reliefs", 10).hits]
    shown = [item.inner_text().splitlines()[0] for item in page.get_by_role("listitem").all()]
    assert shown == texts
    assert page.locator("mark").all_inner_texts() == ["Relief", "relief"]
    assert page.locator("small").first.inner_text() == "Relief <b>arrives</b> · North · 2017-03-05"


def test_the_example_page_says_when_there_is_nothing(page: Page) -> None:
    page.get_by_label("Words").fill("relief")
    page.get_by_label("Before").fill("2017-03")
    page.get_by_role("button").click()
    page.get_by_text("No sentence has these words.").wait_for()
    page.get_by_label("Before").fill("soon")
    page.get_by_role("button").click()
    page.get_by_text("failed to parse date field [soon]").wait_for()


# The page that `esr report` writes


def test_a_report_sorts_its_tables_and_finds_topics(browser: Browser) -> None:
    qrels = {"t1": {"a": 1}, "t2": {"a": 1}}
    runs = {
        "base": {"t1": {"b": 2.0, "a": 1.0}, "t2": {"a": 2.0}},
        "good": {"t1": {"a": 1.0}, "t2": {"b": 2.0, "a": 1.0}},
    }
    results = evaluate_runs(["AP"], qrels, runs, baseline="base")
    moves = find_moves(compute_gains(results, "AP"), results, "AP", qrels, runs)
    moved = render_moves(moves, "AP", "base", {"t1": "floods", "t2": "fires"}, {})
    page = browser.new_page()
    page.set_content(render_report(ReportPage("Report", results, [], moves=moved)))
    rows = page.locator("table").first.locator("tbody tr")
    head = page.locator("thead th").first
    head.click()
    assert rows.first.inner_text().startswith("good")
    head.press("Enter")
    assert rows.first.inner_text().startswith("base") and head.get_attribute("aria-sort") == "ascending"
    page.get_by_label("Find a topic or sentence").fill("FIRES")
    assert page.locator(".moves details:visible b").all_inner_texts() == ["t2"]
    page.close()
