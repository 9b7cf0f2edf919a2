"""The glossary names what the code has."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
    for line in (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| term |", "| --- |"))
]
VALUES = {"matching", "context", "all"}
"""Names in the glossary that are values of a setting."""


@cache
def defined() -> set[str]:
    """The names of all classes, functions and type aliases of the project."""
    names: set[str] = set()
    for folder in ("esr", "webui"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef):
                    names.add(node.name)
                elif isinstance(node, ast.Assign):
                    names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


NAMES = [name for row in ROWS for name in re.findall(r"`(\w+)`", row[1]) if name not in VALUES]


@pytest.mark.parametrize("name", NAMES)
def test_each_name_in_the_glossary_is_defined_in_the_code(name: str) -> None:
    assert name in defined()


def test_a_term_has_one_line_of_three_cells() -> None:
    assert all(len(row) == 3 for row in ROWS)
    terms = [term for row in ROWS for term in row[0].split(", ")]
    assert len(terms) == len(set(terms)) > 50
