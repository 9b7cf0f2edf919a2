from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.speed import report
from benchmarks.speed.figures import Figures
from benchmarks.speed.goals import GOALS

ENVIRONMENT = {"commit": "abc", "at": "2026-01-02", "cores": 2, "processor": "P", "load": 0.1}
PAGE = f"Before.\n\n{report.BEGIN}\n{report.END}\n\nAfter.\n"
NAMES = ("esr", "esr, exhaustive", "esr, with texts", "bm25s", "tantivy", "tantivy, with texts")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return path


def growth(k: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    answers = {str(size): {"sentences": 1000 * size, "matches": [size, 2 * size]} for size in sizes}
    times = {f"{name} {size}": [1.0 * size, 3.0 * size] for name in NAMES for size in sizes}
    key = f"{k} {sizes}"
    return {
        "part": "growth",
        "key": key,
        "k": k,
        "sizes": sizes,
        "answers": answers,
        "times": times,
        **ENVIRONMENT,
    }


def test_without_figures_the_page_has_only_the_goals(page: Path) -> None:
    report.write(Figures([]), page)
    lines = page.read_text("utf-8").splitlines()
    assert sum("not measured" in line for line in lines) == len(GOALS)
    assert not any(line.startswith("#") for line in lines)


def test_the_text_around_the_figures_is_unchanged(page: Path) -> None:
    report.write(Figures([growth(10, (1, 3))]), page)
    text = page.read_text("utf-8")
    report.write(Figures([growth(10, (1, 3))]), page)
    assert page.read_text("utf-8") == text
    assert text.startswith("Before.\n") and text.endswith("After.\n")


def test_growth_is_relative_to_the_smallest_size_and_names_the_commit(page: Path) -> None:
    report.write(Figures([growth(10, (1, 3))]), page)
    text = page.read_text("utf-8")
    assert "| esr, top 10 | 3,000 | 4 | 6 | 8.7 | 3.00 |" in text
    assert "Commit abc, 2026-01-02, 2 × P, load 0.1 before." in text


def test_the_picture_shows_the_figure_with_the_most_sizes(page: Path) -> None:
    report.write(Figures([growth(10, (1, 3, 10)), growth(10, (1, 3))]), page)
    picture = (page.parent / "pictures" / "latency-size.svg").read_text("utf-8")
    ElementTree.fromstring(picture)
    assert "10,000" in picture and "esr, exhaustive, top 10" in picture


def test_latency_reports_how_many_answers_differ(page: Path) -> None:
    answers = {"matches": [5, 900], "scored": [5, 20], "differ": 1, "exhaustive": 0}
    times = {name: [1.0, 2.0] for name in NAMES}
    figure = {"part": "latency", "key": 100, "times": times, "answers": answers, **ENVIRONMENT}
    report.write(Figures([figure]), page)
    text = page.read_text("utf-8")
    assert "In 1 of 2 queries the pruned answer differs" in text
    assert "| esr | 1.5 | 1.95 | 1.00 | 1.00 |" in text
    assert (page.parent / "pictures" / "latency-matches.svg").exists()
