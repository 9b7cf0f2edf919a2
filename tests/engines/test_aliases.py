from __future__ import annotations

from pathlib import Path

import pytest

from esr.engines.aliases import Aliases, read_aliases
from esr.errors import InputError


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "aliases.tsv"


def test_a_table_has_a_name_and_its_aliases_on_each_line(table: Path) -> None:
    table.write_text(
        "\ufeff# names of states\nUnited States\tUS\tU.S.\tAmerica\n\nMyanmar\t Burma \n", "utf-8"
    )
    aliases = read_aliases(table)
    assert aliases.forms == {"United States": ["US", "U.S.", "America"], "Myanmar": ["Burma"]}
    assert aliases.group_key("america") == aliases.group_key("united states") == "united states"
    assert aliases.members("us") == ("united states", "us", "america")
    assert aliases.form("myanmar") == "Myanmar" and aliases.form("burma") is None
    assert (aliases.group_key("china"), aliases.members("china")) == ("china", ("china",))
    assert aliases.with_prefix("bur") == ["myanmar"]
    assert Aliases(aliases.as_dict()) == aliases


def test_an_empty_table_has_no_aliases(table: Path) -> None:
    table.write_text("# nothing\n")
    assert not read_aliases(table)


@pytest.mark.parametrize(
    "text, line, problem",
    [
        ("China\n", 1, "a line needs a name and at least one alias, separated by single tabs"),
        ("# states\nUS\t\tUSA\n", 2, "a line needs a name and at least one alias"),
        ("US\tUSA\nAmerica\tthe U.S.\n", 2, "'the U.S.' is on line 1 already: one name, one line"),
        ("US\tUSA\nUSA\tAmerica\n", 2, "'USA' is on line 1 already"),
    ],
)
def test_a_bad_line_is_named(table: Path, text: str, line: int, problem: str) -> None:
    table.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        read_aliases(table)
    assert caught.value.where == f"{table}:{line}" and problem in caught.value.problem


def test_bytes_that_are_not_utf_8_and_a_missing_file_are_named(table: Path) -> None:
    with pytest.raises(InputError, match=f"{table}: cannot be read: No such file"):
        read_aliases(table)
    table.write_bytes("US\tUSA\nKöln\tCologne\n".encode("latin-1"))
    with pytest.raises(InputError, match=f"{table}:2: is not UTF-8"):
        read_aliases(table)


def test_a_table_may_not_be_larger_than_an_index_should_hold(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esr.engines.aliases.MAX_ALIASES", 3)
    table.write_text("a\tb\nc\td\n")
    with pytest.raises(InputError, match=f"{table}:2: the table has more than 3 names"):
        read_aliases(table)
