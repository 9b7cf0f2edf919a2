from __future__ import annotations

from esr.hashing import hash64

# Of "storm". Another value would make every index on disk unreadable.
HASH = 0x9E76995DF981521F


def test_a_hash_is_the_same_in_every_process_and_version() -> None:
    assert hash64("storm") == HASH


def test_bytes_that_are_no_utf_8_have_a_hash() -> None:
    assert hash64("\udcff") != hash64("\udcfe")
