from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.engines.segments.store import string_table as strings
from esr.engines.segments.store.string_table import Blobs, Names


@settings(max_examples=40)
@given(names=st.lists(st.text(st.characters(codec="utf-8")), unique=True), other=st.text())
def test_names_are_found_by_number_and_numbers_by_name(names: list[str], other: str) -> None:
    with TemporaryDirectory() as folder:
        Names.save(Path(folder), "names", names)
        found = Names(Path(folder), "names")
        assert [found[n] for n in range(len(found))] == names
        assert [found.find(name) for name in names] == list(range(len(names)))
        assert found.find(other) == (names.index(other) if other in names else None)


def test_names_with_the_same_hash_are_told_apart(tmp_path: Path) -> None:
    with patch.object(strings, "hash64", lambda name: len(name)):
        Names.save(tmp_path, "names", ["ab", "cd", "efg", "ef"])
        found = Names(tmp_path, "names")
        assert [found.find(name) for name in ("ab", "cd", "ef", "efg", "xy")] == [0, 1, 3, 2, None]


@settings(max_examples=40)
@given(blobs=st.lists(st.binary(max_size=50)))
def test_blobs_come_back_as_they_were(blobs: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        Blobs.save(Path(folder), "blobs", blobs)
        found = Blobs(Path(folder), "blobs")
        assert [found[n] for n in range(len(found))] == blobs


def test_which_hashes_are_shared_is_told(tmp_path: Path) -> None:
    Names.save(tmp_path, "names", ["a", "b"])
    assert Names(tmp_path, "names").shared(strings.hashes(["b", "c", "a"])).tolist() == [True, False, True]
    Names.save(tmp_path, "none", [])
    assert Names(tmp_path, "none").shared(np.array([1], np.uint64)).tolist() == [False]


@settings(max_examples=40)
@given(
    names=st.lists(st.text(st.sampled_from("ab\u00ff\ufb00\U00010437"), max_size=4), unique=True),
    prefix=st.text(st.sampled_from("ab\u00ff\ufb00\U00010437"), max_size=2),
    limit=st.integers(1, 5),
)
def test_names_that_begin_so_are_found_in_their_order(names: list[str], prefix: str, limit: int) -> None:
    with TemporaryDirectory() as folder:
        Names.save(Path(folder), "names", names)
        found = Names(Path(folder), "names").beginning(prefix, limit)
        assert found == sorted(name for name in names if name.startswith(prefix))[:limit]
