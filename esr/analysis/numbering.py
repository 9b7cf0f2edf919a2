"""The terms of many texts at once, as numbers: a load's way to terms, several times as fast as one by one.

A word of up to 16 bytes is two numbers of 64 bits. numpy cuts them out of the texts and looks them up in
a table, all at once. A word that is not there, or longer, goes the way of single words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.analysis.analyzer import Analyzer

Numbers = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

_REMEMBERED_WORDS = 500_000
_BITS = 18  # of a place in the table: it takes 5 MB and holds nearly all that news says often
_LONGEST = 16
_BLANK = ord(" ")
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
"""Masks that leave the first bytes of eight."""
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)


class Numbered(NamedTuple):
    """The terms of some texts, each once, the numbers of all as they stand, and how many each text has."""

    terms: list[str]
    numbers: Numbers
    lengths: Numbers


class Numbering:
    """Numbers terms. It remembers words, so that more texts take less time; answers do not depend on it."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._spaced = analyzer.spaced
        self._term = analyzer.term
        self._begin()

    def _begin(self) -> None:
        self._known = _Known(self._term)
        self._first = np.zeros(1 << _BITS, np.uint64)
        self._second = np.zeros(1 << _BITS, np.uint64)
        self._number = np.zeros(1 << _BITS, np.int32)

    def numbered(self, texts: Sequence[str]) -> Numbered:
        if len(self._known) > _REMEMBERED_WORDS:
            self._begin()
        pieces = [self._spaced(text) for text in texts]
        content = b" %b%b" % (b" ".join(pieces), b" " * _LONGEST)
        letter = np.frombuffer(content, np.uint8) != _BLANK
        borders = np.flatnonzero(letter[1:] != letter[:-1]) + 1
        starts, sizes = borders[::2], borders[1::2] - borders[::2]
        numbers = self._looked_up(content, starts, sizes)
        there = numbers >= 0
        ends = np.cumsum([len(piece) + 1 for piece in pieces], dtype=np.int64)
        lengths = np.diff(np.searchsorted(starts[there], ends), prepend=0).astype(np.int32)
        return self._by_themselves(numbers[there], lengths)

    def _looked_up(
        self, content: bytes, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
    ) -> Numbers:
        """The number of each word's term, -1 where it has none."""
        eight = np.frombuffer(content, "<u8", 1)
        at_any_byte = np.lib.stride_tricks.as_strided(eight, (len(content) - 7,), (1,), writeable=False)
        first = at_any_byte[starts] & _FIRST_BYTES[np.minimum(sizes, 8)]
        second = at_any_byte[starts + 8] & _FIRST_BYTES[np.clip(sizes - 8, 0, 8)]
        place = _places(first, second)
        numbers = self._number[place]
        known = (self._first[place] == first) & (self._second[place] == second) & (sizes <= _LONGEST)
        missing = np.flatnonzero(~known)
        borders = zip(starts[missing].tolist(), (starts + sizes)[missing].tolist(), strict=True)
        numbers[missing] = [self._known[content[start:end].decode()] for start, end in borders]
        # Who comes first to a place has it: what is frequent comes early. No word is 0.
        new = missing[(self._first[place[missing]] == 0) & (sizes[missing] <= _LONGEST)]
        self._first[place[new]], self._second[place[new]] = first[new], second[new]
        self._number[place[new]] = numbers[new]
        return numbers

    def _by_themselves(self, numbers: Numbers, lengths: Numbers) -> Numbered:
        """The same with numbers that begin at 0, whatever came before."""
        there = np.flatnonzero(np.bincount(numbers, minlength=len(self._known.terms)))
        own = np.zeros(len(self._known.terms), np.int32)
        own[there] = np.arange(len(there))
        return Numbered([self._known.terms[n] for n in there.tolist()], own[numbers], lengths)


def _places(first: Words, second: Words) -> npt.NDArray[np.intp]:
    mixed = first * _MIX[0] ^ second * _MIX[1]
    mixed ^= mixed >> np.uint64(29)
    places: npt.NDArray[np.intp] = (mixed * _MIX[0] >> np.uint64(64 - _BITS)).astype(np.intp)
    return places


class _Known(dict[str, int]):
    """The number of each word's term, -1 where it has none. `terms` has the terms by number."""

    def __init__(self, term: Callable[[str], str]) -> None:
        super().__init__()
        self.terms: list[str] = []
        self._numbers: dict[str, int] = {}
        self._term = term

    def __missing__(self, word: str) -> int:
        term = self._term(word)
        if not term:
            number = -1
        elif (number := self._numbers.setdefault(term, len(self.terms))) == len(self.terms):
            self.terms.append(term)
        self[word] = number
        return number
