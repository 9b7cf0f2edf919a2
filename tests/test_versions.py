"""docs/versions.md says what is deprecated, and which indices are read, as the code has it."""

from __future__ import annotations

import re
from pathlib import Path

import esr
from esr.arguments.argument import ASSISTANT, COMMAND, PYTHON, WATCH
from esr.arguments.tables.table import TABLE
from esr.elastic import meta
from esr.folder.format import manifest
from tests.support.stored_indices import EXPORTS, FOLDERS, format_of

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "versions.md").read_text("utf-8")
DOORS = {
    COMMAND: "command line",
    PYTHON: "Python",
    WATCH: "files of searches",
    "page": "page",
    ASSISTANT: "tools of assistants",
}


def rows_below(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    text = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_table_of_what_is_deprecated_has_all_former_names_with_their_doors() -> None:
    described = {}
    for former, now, doors, _ in rows_below("Deprecated"):
        key = re.findall(r"`([\w.]+)[`=]", former)[0], re.findall(r"`([\w.]+)[`=]", now)[0]
        described[key] = {*doors.split(", ")}
    expected = {
        (alias.name, row.name): {
            DOORS.get(taker, "API") for taker in (alias.applies_to or row.applies_to).split()
        }
        for row in TABLE
        for alias in row.aliases
    }
    assert described == expected


def test_no_deprecated_name_has_outlived_its_two_minor_versions() -> None:
    minor = int(esr.__version__.split(".")[1])
    assert esr.__version__.startswith("0.")
    for former, _, _, until in rows_below("Deprecated"):
        assert minor < int(until.removeprefix("0.")), f"{former} may be removed"


def describe(number: int, current: int) -> str:
    return f"format {number}: {'searched' if number == current else 'to be migrated'}"


def test_the_table_of_indices_says_what_becomes_of_each_stored_one(tmp_path: Path) -> None:
    """tests/index/test_stored_indices.py searches and migrates them."""
    *rows, (version, *current) = rows_below("Indices")
    assert version == "this version"
    assert current == [describe(manifest.FORMAT, manifest.FORMAT), describe(meta.FORMAT, meta.FORMAT)]
    for version, folder, server in rows:
        (export,) = (file for file in EXPORTS if file.name.startswith(f"elasticsearch-{version}."))
        archives = [file for file in FOLDERS if file.name.startswith((f"folder-{version}.", "format-5."))]
        assert server == describe(format_of(export, tmp_path), meta.FORMAT)
        assert {describe(format_of(file, tmp_path), manifest.FORMAT) for file in archives} == {folder}
