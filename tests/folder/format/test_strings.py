from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.folder.format import strings
from esr.folder.format.strings import BlobTable, StringTable, find_string, hash_strings, prefix_range

STRINGS = sorted(["", "a", "ab", "ab\u00e9", "abz", "b", "\ue000", "\uffff", "\U0001f600", "\U0010ffff"])
CODES = [string.encode() for string in STRINGS]


def test_each_string_is_found_and_no_other() -> None:
    assert [find_string(len(CODES), CODES.__getitem__, string) for string in STRINGS] == list(
        range(len(CODES))
    )
    for other in ("aa", "ac", "c", "\U0010fffe", "\U0010ffff!", "\ud83d"):
        assert find_string(len(CODES), CODES.__getitem__, other) is None
    assert find_string(0, CODES.__getitem__, "a") is None


def test_the_strings_with_a_prefix_are_a_range() -> None:
    for prefix in ("", "a", "ab", "abz", "ac", "\ue000", "\U0010ffff", "\U0010ffff!", "\ud83d"):
        found = prefix_range(len(CODES), CODES.__getitem__, prefix)
        assert [STRINGS[n] for n in found] == [s for s in STRINGS if s.startswith(prefix)]
    assert not prefix_range(0, CODES.__getitem__, "a")


@settings(max_examples=40)
@given(strings=st.lists(st.text(st.characters(codec="utf-8")), unique=True), other=st.text())
def test_strings_are_found_by_number_and_numbers_by_string(strings: list[str], other: str) -> None:
    with TemporaryDirectory() as folder:
        StringTable.save(Path(folder), "strings", strings)
        table = StringTable(Path(folder), "strings")
        assert [table[n] for n in range(len(table))] == strings
        assert [table.find(string) for string in strings] == list(range(len(strings)))
        assert table.find(other) == (strings.index(other) if other in strings else None)


def test_strings_with_the_same_hash_are_distinguished(tmp_path: Path) -> None:
    with patch.object(strings, "hash64", lambda string: len(string)):
        StringTable.save(tmp_path, "strings", ["ab", "cd", "efg", "ef"])
        table = StringTable(tmp_path, "strings")
        assert [table.find(string) for string in ("ab", "cd", "ef", "efg", "xy")] == [0, 1, 3, 2, None]


@settings(max_examples=40)
@given(blobs=st.lists(st.binary(max_size=50)))
def test_blobs_are_read_as_they_were_written(blobs: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        BlobTable.save(Path(folder), "blobs", blobs)
        table = BlobTable(Path(folder), "blobs")
        assert [table[n] for n in range(len(table))] == blobs


def test_a_table_says_which_hashes_it_contains(tmp_path: Path) -> None:
    StringTable.save(tmp_path, "strings", ["a", "b"])
    table = StringTable(tmp_path, "strings")
    assert table.contains_hashes(hash_strings(["b", "c", "a"])).tolist() == [True, False, True]
    StringTable.save(tmp_path, "none", [])
    assert StringTable(tmp_path, "none").contains_hashes(np.array([1], np.uint64)).tolist() == [False]


@settings(max_examples=40)
@given(
    strings=st.lists(st.text(st.sampled_from("ab\u00ff\ufb00\U00010437"), max_size=4), unique=True),
    prefix=st.text(st.sampled_from("ab\u00ff\ufb00\U00010437"), max_size=2),
    limit=st.integers(1, 5),
)
def test_strings_with_a_prefix_are_found_in_code_point_order(
    strings: list[str], prefix: str, limit: int
) -> None:
    with TemporaryDirectory() as folder:
        StringTable.save(Path(folder), "strings", strings)
        matches = StringTable(Path(folder), "strings").with_prefix(prefix, limit)
        assert matches == sorted(string for string in strings if string.startswith(prefix))[:limit]
