"""The patterns of token filters: the same in Java and in Python, and quick in both."""

from __future__ import annotations

import re

import pytest

from esr.text.analyzer import WORDS_ANALYZER, all_definitions, get_definition
from esr.text.token_filters import compile_pattern

PATTERNS = sorted(
    {
        pattern
        for name in (*all_definitions(), WORDS_ANALYZER)
        for settings in get_definition(name).chain("filter")
        for pattern in (settings.get("pattern"), *settings.get("patterns", ()))
        if pattern
    }
)
LARGE_SET = 6
"""Ranges and characters beyond ASCII, which Java looks up one after another."""


def _largest_set(pattern: str) -> int:
    sets = re.findall(r"\[\^?([^\]]+)\]", pattern)
    return max((sum(not r.isascii() for r in re.findall(r".-.|.", found)) for found in sets), default=0)


@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_a_large_set_is_not_tried_on_the_letters_of_most_words(pattern: str) -> None:
    """Java asks each range of a set in turn: without this, sets took half of the time of a load."""
    first = re.match(r"\(\?!\[[^\]]+\]\)", pattern)
    if _largest_set(pattern) >= LARGE_SET:
        assert first, "begin with (?![...]), a small set of what cannot match"
    if first:
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        assert not any(re.match(first[0], letter) for letter in letters)


@pytest.mark.parametrize("pattern", [r"\d+", "(?i)a", "[a[b]]", "[a&&b]", "(?<name>a)"])
def test_what_java_and_python_may_read_differently_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="may read differently"):
        compile_pattern(pattern)
