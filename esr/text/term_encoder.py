"""Encodes the terms of many texts as numbers at once: for loads, several times as fast as text by text.

A word of up to 16 bytes is two 64-bit numbers. numpy cuts the words out of the texts and looks all of them up
in a hash table at once. A longer word, or one not in the table, is looked up individually.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.text.analyzer import Analyzer
from esr.text.tokenizer import PADDING

TermIds = npt.NDArray[np.int32]
WordHalves = npt.NDArray[np.uint64]

_MAX_WORDS = 500_000
_SLOT_BITS = 18  # the table takes 5 MB and holds nearly all frequent words of news
_MAX_BYTES = len(PADDING)
_SPACE = ord(" ")
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
"""Masks of the first 0 to 8 of eight bytes."""
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)


class EncodedTexts(NamedTuple):
    """The distinct terms of some texts, the number of each occurrence's term, and each text's length."""

    terms: list[str]
    term_ids: TermIds
    lengths: TermIds


class TermEncoder:
    """Encodes texts. Caches words, so that later texts take less time; results do not depend on it."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._join = analyzer.join
        self._term = analyzer.term
        self._clear()

    def _clear(self) -> None:
        self._vocabulary = _Vocabulary(self._term)
        self._first = np.zeros(1 << _SLOT_BITS, np.uint64)
        self._second = np.zeros(1 << _SLOT_BITS, np.uint64)
        self._term_id = np.zeros(1 << _SLOT_BITS, np.int32)

    def encode(self, texts: Sequence[str]) -> EncodedTexts:
        if len(self._vocabulary) > _MAX_WORDS:
            self._clear()
        content, ends = self._join(texts)
        is_letter = np.frombuffer(content, np.uint8) != _SPACE
        borders = np.flatnonzero(is_letter[1:] != is_letter[:-1]) + 1
        starts, sizes = borders[::2], borders[1::2] - borders[::2]
        term_ids = self._lookup(content, starts, sizes)
        has_term = term_ids >= 0
        lengths = np.diff(np.searchsorted(starts[has_term], ends), prepend=0).astype(np.int32)
        return self._renumber(term_ids[has_term], lengths)

    def _lookup(self, content: bytes, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> TermIds:
        """The number of each word's term, -1 for a word without one."""
        eight = np.frombuffer(content, "<u8", 1)
        at_any_byte = np.lib.stride_tricks.as_strided(eight, (len(content) - 7,), (1,), writeable=False)
        first = at_any_byte[starts] & _FIRST_BYTES[np.minimum(sizes, 8)]
        second = at_any_byte[starts + 8] & _FIRST_BYTES[np.clip(sizes - 8, 0, 8)]
        slots = _slots(first, second)
        term_ids = self._term_id[slots]
        hit = (self._first[slots] == first) & (self._second[slots] == second) & (sizes <= _MAX_BYTES)
        missing = np.flatnonzero(~hit)
        borders = zip(starts[missing].tolist(), (starts + sizes)[missing].tolist(), strict=True)
        term_ids[missing] = [self._vocabulary[content[start:end].decode()] for start, end in borders]
        # The first word of a slot keeps it, since frequent words come early. A free slot has 0, which no word
        # is.
        new = missing[(self._first[slots[missing]] == 0) & (sizes[missing] <= _MAX_BYTES)]
        self._first[slots[new]], self._second[slots[new]] = first[new], second[new]
        self._term_id[slots[new]] = term_ids[new]
        return term_ids

    def _renumber(self, term_ids: TermIds, lengths: TermIds) -> EncodedTexts:
        """Number the terms of these texts from 0, independent of earlier texts."""
        all_terms = self._vocabulary.terms
        used = np.flatnonzero(np.bincount(term_ids, minlength=len(all_terms)))
        new_ids = np.zeros(len(all_terms), np.int32)
        new_ids[used] = np.arange(len(used))
        return EncodedTexts([all_terms[n] for n in used.tolist()], new_ids[term_ids], lengths)


def interleave(parts: Iterable[tuple[Sequence[int], EncodedTexts]], texts: int) -> EncodedTexts:
    """The encoded texts of several encoders, which have no term in common, as those of one.

    Each part comes with the places that its texts have among all `texts`.
    """
    lengths = np.zeros(texts, np.int32)
    terms: list[str] = []
    owners, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for places, part in parts:
        lengths[places] = part.lengths
        owners.append(np.repeat(places, part.lengths))
        numbers.append(part.term_ids + np.int32(len(terms)))
        terms += part.terms
    order = np.argsort(np.concatenate(owners), kind="stable")
    return EncodedTexts(terms, np.concatenate(numbers)[order], lengths)


def _slots(first: WordHalves, second: WordHalves) -> npt.NDArray[np.intp]:
    mixed = first * _MIX[0] ^ second * _MIX[1]
    mixed ^= mixed >> np.uint64(29)
    slots: npt.NDArray[np.intp] = (mixed * _MIX[0] >> np.uint64(64 - _SLOT_BITS)).astype(np.intp)
    return slots


class _Vocabulary(dict[str, int]):
    """The number of each word's term, -1 for a word without one. `terms` are the terms by number."""

    def __init__(self, term: Callable[[str], str]) -> None:
        super().__init__()
        self.terms: list[str] = []
        self._term_ids: dict[str, int] = {}
        self._term = term

    def __missing__(self, word: str) -> int:
        term = self._term(word)
        if not term:
            term_id = -1
        elif (term_id := self._term_ids.setdefault(term, len(self.terms))) == len(self.terms):
            self.terms.append(term)
        self[word] = term_id
        return term_id
