"""Tables of characters: a value and the ranges of code points that have it, one value a line."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from pathlib import Path


class CharacterTable(dict[int, str]):
    """The value of each code point, for `str.translate`. Filled as characters occur.

    The file is read at the first of them: most tables are of what no text in ASCII has.
    """

    def __init__(self, name: str, default: str | None) -> None:
        """`default` is the value of code points that the table lacks; None leaves them as they are."""
        super().__init__()
        self._name, self._default = name, default

    @cached_property
    def _ranges(self) -> tuple[list[int], list[int], list[str]]:
        """The starts, the ends and the values of the ranges, by start."""
        ranges = sorted(_read_ranges(self._name))
        return [start for start, _, _ in ranges], [end for _, end, _ in ranges], [v for _, _, v in ranges]

    def __missing__(self, code: int) -> str:
        starts, ends, values = self._ranges
        n = bisect_right(starts, code) - 1
        if n >= 0 and code <= ends[n]:
            value = values[n]
        else:
            value = chr(code) if self._default is None else self._default
        self[code] = value
        return value


def _read_ranges(name: str) -> list[tuple[int, int, str]]:
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    ranges = []
    for line in text.splitlines():
        if line.startswith("# "):
            continue
        value, *spans = line.split(" ")
        for span in spans:
            start, _, end = span.partition("-")
            ranges.append((int(start, 16), int(end or start, 16), value))
    return ranges
