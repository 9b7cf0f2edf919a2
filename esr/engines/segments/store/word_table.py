"""The words of a segment as they are written (analyzer `words`), and where each occurs.

The words of all texts are numbered on: those of the sentences, then those of the titles, in order. A number
is left out after each text, so that words with consecutive numbers stand next to each other. The numbers of
a word's occurrences ascend; lists of similar lengths share a group of `elias_fano`. Words are in the order
of their bytes, which is that of their code points, so the words with a prefix are a range.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from esr.engines.segments.store import elias_fano
from esr.engines.segments.store.arrays import map_array, map_bytes, narrow, save_array, save_bytes
from esr.engines.segments.store.elias_fano import Array, Group
from esr.engines.segments.store.sorted_strings import find_string, prefix_range
from esr.engines.segments.store.word_places import WordPlaces, text_starts

_NAME = "words"
_CHUNK = 1 << 16  # words whose signatures are made at once
_BIT_OF_BYTE = np.array([1 << (code & 63) if code < 128 else 0 for code in range(256)], np.uint64)


class WordTable:
    """Words by number, ascending, and how often each occurs."""

    def __init__(self, folder: Path, sentence_count: int) -> None:
        """Raises ValueError or FileNotFoundError for incomplete files."""
        self._bytes = map_bytes(folder / f"{_NAME}.bytes")
        self._lengths = map_array(folder / f"{_NAME}.lengths.npy")
        self.counts = map_array(folder / f"{_NAME}.counts.npy")
        """How often each word occurs."""
        self._places = map_bytes(folder / f"{_NAME}.places.bytes")
        self._group_ends = map_array(folder / f"{_NAME}.groups.npy")
        self._text_lengths = map_array(folder / f"{_NAME}.texts.npy")
        self._sentence_count = sentence_count
        sizes = int(self._lengths.sum(dtype=np.int64)), int(self._group_ends[-1])
        if (len(self._bytes), len(self._places)) != sizes or len(self.counts) != len(self._lengths):
            raise ValueError(f"{folder / _NAME} is truncated")

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, number: int) -> str:
        return self._encoded(number).decode()

    def find(self, word: str) -> int | None:
        """The number of a word, or None."""
        return find_string(len(self), self._encoded, word)

    def prefix_range(self, prefix: str) -> range:
        """The numbers of the words that begin so."""
        return prefix_range(len(self), self._encoded, prefix)

    def words(self, numbers: Array) -> list[str]:
        """The words with these numbers."""
        ends = self._ends
        bounds = zip(ends[numbers].tolist(), ends[numbers + 1].tolist(), strict=True)
        return [str(self._bytes[start:stop], "utf-8") for start, stop in bounds]

    @property
    def byte_lengths(self) -> Array:
        """How many bytes of UTF-8 each word has."""
        return self._lengths

    def read_signatures(self, numbers: Array) -> npt.NDArray[np.uint64]:
        """The signatures of the words with these numbers."""
        content, signatures = np.frombuffer(self._bytes, np.uint8), np.empty(len(numbers), np.uint64)
        for first in range(0, len(numbers), _CHUNK):
            chunk = numbers[first : first + _CHUNK]
            starts, lengths = self._ends[chunk], self._lengths[chunk].astype(np.int64)
            begins = np.cumsum(lengths) - lengths
            places = np.arange(int(lengths.sum())) + np.repeat(starts - begins, lengths)
            signatures[first : first + _CHUNK] = np.bitwise_or.reduceat(_BIT_OF_BYTE[content[places]], begins)
        return signatures

    def read_places(self) -> WordPlaces:
        """Where the words occur."""
        return WordPlaces(
            self.counts, self._places, self._group_ends, self._text_lengths, self._sentence_count
        )

    def _encoded(self, number: int) -> bytes:
        return bytes(self._bytes[self._end_view[number] : self._end_view[number + 1]])

    @cached_property
    def _ends(self) -> Array:
        return np.concatenate([[0], np.cumsum(self._lengths, dtype=np.int64)])

    @cached_property
    def _end_view(self) -> memoryview:
        """A single number of a view takes a third of the time of one of an array."""
        return memoryview(self._ends)  # type: ignore[arg-type]


def sign_word(encoded: bytes) -> int:
    """The signature of a word in UTF-8: the set of its ASCII characters. Some share one of its 64 bits."""
    return int(np.bitwise_or.reduce(_BIT_OF_BYTE[np.frombuffer(encoded, np.uint8)]))


def save_words(folder: Path, words: list[str], numbers: Array, places: Array, text_lengths: Array) -> None:
    """Write the table.

    `words` ascend. Each occurrence has the number of its word and its place, in any order.
    """
    limit = int(text_starts(text_lengths)[-1])
    counts = np.bincount(numbers, minlength=len(words))
    group_of = elias_fano.choose_low_bits(counts, limit)
    order = np.argsort(group_of, kind="stable")
    rank = np.empty(len(words), np.int64)
    rank[order] = np.arange(len(words))
    keys = rank[numbers] << limit.bit_length() | places
    keys.sort()
    keys &= (1 << limit.bit_length()) - 1
    # Groups follow each other, and words within a group: so each group is a slice.
    group_counts, start, encoded = counts[order], 0, []
    borders = np.searchsorted(group_of[order], np.arange(int(group_of.max(initial=0)) + 2))
    for group, (first, last) in enumerate(zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)):
        lengths = group_counts[first:last]
        stop = start + int(lengths.sum())
        part = elias_fano.encode(Group(group, limit), keys[start:stop], lengths) if first < last else b""
        encoded.append(part)
        start = stop
    texts = [word.encode() for word in words]
    save_bytes(folder / f"{_NAME}.bytes", texts)
    save_array(folder / f"{_NAME}.lengths.npy", narrow(np.array([len(text) for text in texts], np.int64)))
    save_array(folder / f"{_NAME}.counts.npy", narrow(counts))
    save_bytes(folder / f"{_NAME}.places.bytes", encoded)
    ends = np.cumsum([0, *(len(part) for part in encoded)], dtype=np.int64)
    save_array(folder / f"{_NAME}.groups.npy", ends)
    save_array(folder / f"{_NAME}.texts.npy", narrow(text_lengths))
