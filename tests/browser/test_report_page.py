"""The script of a report, in a real browser."""

from __future__ import annotations

from playwright.sync_api import Browser

from esr.lab.report.page import ReportPage
from esr.lab.report.page import render as render_report
from esr.lab.report.rankings import compute_gains, find_moves, render_moves
from esr.lab.results import evaluate_runs


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
