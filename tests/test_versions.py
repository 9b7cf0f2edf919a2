"""docs/versions.md says what is deprecated, and which indices are read, as the code has it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import esr
from esr.arguments.argument import ASSISTANT, COMMAND, PYTHON, WATCH
from esr.arguments.tables.table import TABLE
from esr.cli import main
from esr.deprecation import MOVED_NAMES, MovedName, last_version
from esr.elastic import meta
from esr.folder.format import manifest
from esr.following.alerts.saved_searches import list_deprecations
from tests.support.stored_indices import EXPORTS, FOLDERS, format_of

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "versions.md").read_text("utf-8")
DOORS = {
    COMMAND: "command line",
    PYTHON: "Python",
    WATCH: "files of searches",
    "page": "page",
    ASSISTANT: "tools of assistants",
}


def rows_below(heading: str, number: int = 0) -> list[list[str]]:
    """The cells of a table below a heading, without its head."""
    text = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)[number]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_table_of_what_is_deprecated_has_all_former_names_with_their_doors() -> None:
    described = {}
    for former, now, doors, until in rows_below("Deprecated"):
        key = re.findall(r"`([\w.]+)[`=]", former)[0], re.findall(r"`([\w.]+)[`=]", now)[0]
        described[key] = {*doors.split(", ")}, until
    expected = {
        (alias.name, row.name): (
            {DOORS.get(taker, "API") for taker in (alias.applies_to or row.applies_to).split()},
            last_version(alias.since),
        )
        for row in TABLE
        for alias in row.aliases
    }
    assert described == expected


def test_the_table_of_former_names_of_python_is_that_of_the_code() -> None:
    expected = [
        [f"`{moved.module}.{moved.name}`", f"`{moved.now}`", last_version(moved.since)]
        for moved in MOVED_NAMES
    ]
    assert rows_below("Deprecated", 1) == expected


def test_no_deprecated_name_has_outlived_its_two_minor_versions() -> None:
    minor = int(esr.__version__.split(".")[1])
    assert esr.__version__.startswith("0.")
    for former, *_, until in rows_below("Deprecated") + rows_below("Deprecated", 1):
        assert minor < int(until.removeprefix("0.")), f"{former} may be removed"


# A former name is reported with its replacement and with the version in which it goes.


@pytest.mark.parametrize("moved", MOVED_NAMES, ids=lambda moved: moved.name)
def test_a_former_name_of_python_is_the_new_one_and_warns(moved: MovedName) -> None:
    with pytest.warns(DeprecationWarning) as warned:
        former = getattr(import_module(moved.module), moved.name)
    module, _, name = moved.now.rpartition(".")
    assert former is getattr(import_module(module), name)
    (warning,) = warned
    assert moved.now in str(warning.message) and last_version(moved.since) in str(warning.message)
    assert warning.filename == __file__


def test_a_name_that_a_module_never_had_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"esr\.lab\.measures.*'x'"):
        import_module("esr.lab.measures").x  # noqa: B018


def test_a_former_keyword_of_python_warns_where_it_is_used(tmp_path: Path) -> None:
    with esr.create(
        tmp_path / "index", [{"id": "1", "text": "A flood came.", "date": "2024-05-02"}]
    ) as index:
        with pytest.warns(DeprecationWarning) as warned:
            hits = index.search("flood", to="2024-05")
        assert len(index.search("flood", before="2024-06")) == len(hits) == 1
    (warning,) = warned
    assert all(part in str(warning.message) for part in ("'to'", "'before'", last_version("0.3")))
    assert warning.filename == __file__


@pytest.mark.parametrize(("former", "now"), [("--from", "--after"), ("--to", "--before")])
def test_a_former_option_is_reported_in_a_line_on_standard_error(
    former: str, now: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    esr.create(tmp_path / "index", [{"id": "1", "text": "A flood came.", "date": "2024-05-02"}]).close()
    main(["search", "flood", "--index", str(tmp_path / "index"), former, "2024-05"], standalone_mode=False)
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert "A flood came." in printed.out
    assert all(part in line for part in (f"{former} ", f"{now}", last_version("0.3")))


def test_a_former_key_in_a_file_of_searches_is_reported_with_its_search(tmp_path: Path) -> None:
    path = tmp_path / "searches.toml"
    path.write_text('[floods]\nquery = "flood"\nfrom = "2024"\n[rain]\nquery = "rain"\nafter = "2024"\n')
    (line,) = list_deprecations(path)
    assert all(part in line for part in (str(path), "[floods]", "from", "after", last_version("0.3")))


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
