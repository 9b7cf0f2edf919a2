"""The words of a snapshot as they are written: those with a prefix, and those that are like another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.store.word_table import WordTable

_LONGEST_CHARACTER = 4  # bytes of UTF-8
_STRING_BYTES = 64
"""Memory of a string beside its characters, with its place in a list."""


class _WordsOfSize:
    """The words of a table with so many bytes of UTF-8, the most frequent first.

    Reading a word takes longer than comparing it, so a word is read when it is first asked for, and kept.
    """

    def __init__(self, table: WordTable, size: int) -> None:
        numbers = np.flatnonzero(table.byte_lengths == size)
        counts = np.asarray(table.counts[numbers], np.int64)
        order = np.argsort(-counts, kind="stable")
        self._table, self._numbers, self._counts = table, numbers[order], counts[order]
        self._words: list[str] = []
        self.nbytes = len(numbers) * (size + _STRING_BYTES) + self._numbers.nbytes + counts.nbytes

    def frequent(self, least: int) -> list[str]:
        """Those that occur at least so often."""
        size = int(np.searchsorted(-self._counts, -least, side="right"))
        words = self._words
        if len(words) < size:  # other threads may have the shorter list
            words = [*words, *self._table.words(self._numbers[len(words) : size])]
            self._words = words
        return words[:size]


def words_with_prefix(segments: Sequence[Segment], prefix: str, limit: int) -> list[tuple[str, int]]:
    """The most frequent words that begin so, and how often each occurs."""
    totals: Counter[str] = Counter()
    candidates = {word for segment in segments for word in _frequent(segment.words, prefix, 2 * limit)}
    for segment in segments:
        totals.update(_occurrences(segment.words, sorted(candidates)))
    return sorted(totals.items(), key=lambda word: (-word[1], word[0]))[:limit]


def similar_words(
    segments: Sequence[Segment], memory: SearchMemory, word: str, max_edits: int, least: int
) -> dict[str, int]:
    """The words within so many edits of another, swapped neighbours being one, and how often each occurs.

    Only those that occur at least `least` times.
    """
    similar: set[str] = set()
    size = len(word.encode())
    margin = max_edits * (1 if word.isascii() else _LONGEST_CHARACTER)
    # What occurs so often in all segments occurs that often in one of them.
    least_in_one = -(-least // max(len(segments), 1))
    for segment in segments:
        table = segment.words
        for other_size in range(max(size - margin, 1), size + margin + 1):
            read = partial(_WordsOfSize, table, other_size)
            others = memory.get(("words of a size", table, other_size), read).frequent(least_in_one)
            if others:
                similar.update(_within_edits(word, others, max_edits))
    similar.discard(word)
    totals: Counter[str] = Counter()
    for segment in segments:
        totals.update(_occurrences(segment.words, sorted(similar)))
    return {other: total for other, total in totals.items() if total >= least}


def _within_edits(word: str, others: Sequence[str], max_edits: int) -> list[str]:
    # Few searches compare words, and all would wait for this import.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    edits = cdist([word], others, scorer=OSA.distance, score_cutoff=max_edits, dtype=np.uint8)
    return [others[n] for n in np.flatnonzero(edits[0] <= max_edits).tolist()]


def _frequent(table: WordTable, prefix: str, limit: int) -> list[str]:
    words = table.prefix_range(prefix)
    counts = np.asarray(table.counts[words.start : words.stop], np.int64)
    return table.words(np.argsort(-counts, kind="stable")[:limit] + words.start)


def _occurrences(table: WordTable, words: Sequence[str]) -> dict[str, int]:
    numbers = {word: table.find(word) for word in words}
    return {word: int(table.counts[number]) for word, number in numbers.items() if number is not None}
