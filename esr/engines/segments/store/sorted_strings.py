"""Search among strings that are numbered in the order of their UTF-8, which is that of their code points."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

_LAST = b"\xff"  # greater than any byte of UTF-8


def find_string(count: int, bytes_of: Callable[[int], bytes], text: str) -> int | None:
    """The number of a string, or None. `bytes_of` gives the UTF-8 of each of `count` strings."""
    encoded = _encode(text)
    number = bisect_left(range(count), encoded, key=bytes_of)
    return number if number < count and bytes_of(number) == encoded else None


def prefix_range(count: int, bytes_of: Callable[[int], bytes], prefix: str) -> range:
    """The numbers of the strings that begin so."""
    encoded, numbers = _encode(prefix), range(count)
    start = bisect_left(numbers, encoded, key=bytes_of)
    return range(start, bisect_left(numbers, encoded + _LAST, start, key=bytes_of))


def _encode(text: str) -> bytes:
    """Half a surrogate pair may be typed. No string has one."""
    return text.encode("utf-8", "surrogatepass")
