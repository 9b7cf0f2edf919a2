r"""Patterns that Java's and Python's regular expressions read alike.

The definitions use literals, sets, groups, lookarounds and repetitions only: neither `\d`, `\w` nor `\p`,
which the two take for different characters. Replacements are literal text.
"""

from __future__ import annotations

import re

# Escapes of letters, flags and other groups than `(?:`, `(?=`, `(?!`, `(?<=` and `(?<!`, sets within sets.
_AMBIGUOUS = re.compile(r"\\[A-Za-z]|\(\?(?![:=!]|<[=!])|\[[^\]]*(?:\[|&&)")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern for Python. Raises ValueError for a construct that the two may read in different ways."""
    if _AMBIGUOUS.search(pattern):
        raise ValueError(f"the pattern {pattern!r} has a construct that Java and Python may read differently")
    return re.compile(pattern)
