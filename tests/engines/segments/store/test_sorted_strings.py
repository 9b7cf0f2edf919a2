from __future__ import annotations

from esr.engines.segments.store.sorted_strings import find_string, prefix_range

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
