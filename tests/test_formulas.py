"""docs/formulas.md has all that is cited, no more, and the scores of the worked examples."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from esr import models
from esr.models import priors
from esr.models.forms import FORMS

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "formulas.md").read_text("utf-8")
FOLDERS = ("esr", "webui", "tests", "benchmarks", "docs", "index_templates")
SUFFIXES = {".py", ".md", ".html", ".js", ".painless", ".json"}

NUMBER = re.compile(r"(?<![\w.])([A-G])\.(\d{1,2})(?!\w|\.\w)")
RANGE = re.compile(r"(?<![\w.])([A-G])\.(\d{1,2})-\1\.(\d{1,2})(?!\w|\.\w)")
SECTIONS = re.compile(r"\bdocs/formulas\.md, [^;:\"]*?\bsections? ([0A-G])\b(?: and ([A-G])\b)?")
LINK = re.compile(r"\[[^\]]*\]\((?:docs/)?formulas\.md(?:#([\w-]*))?\)")
IRREGULAR = re.compile(
    r"(?<!docs/)\bformulas\.md\b|formulas\.md(?!, )[ ,;(]+(?:sections? )?(?:[A-G]\.\d|[0A-G]\b)"
)
IDS = ("D1.1", "D1.2", "D1.3", "D2.1", "D2.2", "D2.3", "D3.1", "D3.2")


@cache
def citing() -> dict[str, str]:
    """The texts that may cite formulas, by their paths."""
    pages = {ROOT / "docs" / "formulas.md", Path(__file__).resolve()}
    paths = [ROOT / "README.md", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))]
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for path in paths
        if path.suffix in SUFFIXES and path not in pages and "data" not in path.parts
    }


def numbers(text: str) -> set[str]:
    """The formulas that a text cites, those within ranges too."""
    single = {f"{letter}.{number}" for letter, number in NUMBER.findall(text)}
    return single | {
        f"{letter}.{number}"
        for letter, first, last in RANGE.findall(text)
        for number in range(int(first), int(last) + 1)
    }


def sections(text: str) -> set[str]:
    """The sections that a text cites as a whole."""
    return {letter for match in SECTIONS.findall(text) for letter in match if letter}


@cache
def parts() -> dict[str, str]:
    """The page's text by number. That of a section has its formulas too."""
    found: dict[str, str] = {}
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        if head := re.match(r"[0A-G] ", section):
            found[head[0].strip()] = section
            for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
                name = part.split(" ", 1)[0]
                assert name not in found, f"{name} is there twice"
                found[name] = part
    return found


def anchors() -> set[str]:
    """What links can lead to, as GitHub makes it of the headings."""
    headings = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def rows(text: str, columns: int) -> Iterator[list[str]]:
    """The cells of the tables' rows that have so many columns."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns:
            yield cells


@cache
def scores() -> dict[str, Any]:
    """The scores of the worked examples by run, query and sentence."""
    data = ROOT / "tests" / "data"
    worked = json.loads((data / "worked.json").read_text("utf-8"))
    dependence = json.loads((data / "worked_dependence.json").read_text("utf-8"))
    runs = [*worked["runs"], *worked["adjusted"], *dependence["runs"]]
    return {run["name"]: run["scores"] for run in runs}


def test_every_formula_that_is_cited_is_on_the_page() -> None:
    missing = {path: (numbers(text) | sections(text)) - set(parts()) for path, text in citing().items()}
    assert {path: names for path, names in missing.items() if names} == {}


def test_every_formula_on_the_page_is_cited() -> None:
    cited = {name for text in citing().values() for name in numbers(text) | sections(text)}
    assert set(parts()) - cited == set()


def test_the_page_has_the_formulas_in_the_order_of_their_numbers() -> None:
    order = [name for name in parts() if "." in name]
    assert order == sorted(order, key=lambda name: (name[0], int(name[2:])))
    assert [name for name in parts() if "." not in name] == list("0ABCDEFG")
    assert numbers(PAGE) <= set(parts())


def test_the_page_is_cited_in_one_way() -> None:
    for path, text in citing().items():
        assert not IRREGULAR.search(LINK.sub("", text)), f"{path} does not cite as docs/formulas.md, A.14"
        assert not numbers(text) or "formulas.md" in text, f"{path} cites numbers, and does not say of what"


def test_links_to_and_within_the_page_lead_somewhere() -> None:
    wanted = [(path, name) for path, text in citing().items() for name in LINK.findall(text) if name]
    wanted += [("docs/formulas.md", name) for name in re.findall(r"\]\(#([\w-]+)\)", PAGE)]
    assert wanted and [link for link in wanted if link[1] not in anchors()] == []
    others = [name for name in re.findall(r"\]\(([^)#]+)\)", PAGE) if not (ROOT / "docs" / name).exists()]
    assert others == []


def test_the_files_and_folders_that_the_page_names_exist() -> None:
    named = re.findall(r"`((?:esr|benchmarks|tests)/[\w/.]+)`", PAGE)
    assert named and [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "entry",
    [*models.MODELS.values(), *priors.PRIORS.values(), *FORMS.values()],
    ids=lambda e: e.name,
)
def test_the_formula_that_a_source_cites_names_what_cites_it(entry: Any) -> None:
    names = numbers(entry.source) | sections(entry.source)
    assert names, f"{entry.name} cites no formula"
    assert any(
        re.search(rf"`{entry.name}`|^    {entry.name} ", parts()[name], re.MULTILINE) for name in names
    )


def test_what_is_worked_by_hand_is_the_score_of_its_run() -> None:
    worked = [cells for cells in rows(parts()["E.2"], 3) if cells[0] in scores()]
    assert len(worked) == 7
    for run, by_hand, score in worked:
        value = eval(by_hand.replace("·", "*"), {"__builtins__": {}, "log": math.log})
        assert f"{value:.4f}" == score == f"{scores()[run]['Q1']['D1.1']:.4f}", run


@pytest.mark.parametrize(("name", "query"), [("E.8", "Q1"), ("E.9", "Q1"), ("E.10", "Q1"), ("E.11", "Q2")])
def test_the_scores_on_the_page_are_those_of_the_worked_examples(name: str, query: str) -> None:
    tables = [cells for cells in rows(parts()[name], 1 + len(IDS)) if cells[0] not in ("run", "---")]
    assert tables
    for run, *shown in tables:
        assert shown == [f"{scores()[run][query][id]:.4f}" for id in IDS], run
