"""The words of a snapshot as they are written: those with a prefix, and those that are like another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.store.word_table import WordTable

_LONGEST_CHARACTER = 4  # bytes of UTF-8
_STRING_BYTES = 64
"""Memory of a string beside its characters, with its place in a list."""


class _WordsOfSize(NamedTuple):
    """The words of a table with so many bytes of UTF-8. Reading them takes longer than comparing them."""

    words: list[str]
    counts: list[int]
    nbytes: int


def words_with_prefix(segments: Sequence[Segment], prefix: str, limit: int) -> list[tuple[str, int]]:
    """The most frequent words that begin so, and how often each occurs."""
    totals: Counter[str] = Counter()
    candidates = {word for segment in segments for word in _frequent(segment.words, prefix, 2 * limit)}
    for segment in segments:
        totals.update(_occurrences(segment.words, sorted(candidates)))
    return sorted(totals.items(), key=lambda word: (-word[1], word[0]))[:limit]


def similar_words(
    segments: Sequence[Segment], memory: SearchMemory, word: str, max_edits: int
) -> dict[str, int]:
    """The words within so many edits of another, swapped neighbours being one, and how often each occurs."""
    # Few searches need it, and all would wait for its import.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    totals: Counter[str] = Counter()
    size = len(word.encode())
    margin = max_edits * (1 if word.isascii() else _LONGEST_CHARACTER)
    for segment in segments:
        table = segment.words
        for other_size in range(max(size - margin, 1), size + margin + 1):
            read = partial(_read_words_of_size, table, other_size)
            others = memory.get(("words of a size", table, other_size), read)
            if not others.words:
                continue
            edits = cdist([word], others.words, scorer=OSA.distance, score_cutoff=max_edits, dtype=np.uint8)
            for n in np.flatnonzero(edits[0] <= max_edits).tolist():
                totals[others.words[n]] += others.counts[n]
    totals.pop(word, None)
    return dict(totals)


def _read_words_of_size(table: WordTable, size: int) -> _WordsOfSize:
    numbers = np.flatnonzero(table.byte_lengths == size)
    counts = table.counts[numbers].tolist()
    return _WordsOfSize(table.words(numbers), counts, len(numbers) * (size + _STRING_BYTES))


def _frequent(table: WordTable, prefix: str, limit: int) -> list[str]:
    words = table.prefix_range(prefix)
    counts = np.asarray(table.counts[words.start : words.stop], np.int64)
    return table.words(np.argsort(-counts, kind="stable")[:limit] + words.start)


def _occurrences(table: WordTable, words: Sequence[str]) -> dict[str, int]:
    numbers = {word: table.find(word) for word in words}
    return {word: int(table.counts[number]) for word, number in numbers.items() if number is not None}
