"""The words of a snapshot as they are written: those with a prefix, and those that are like another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from esr.engines.segments.store.segment import Segment
from esr.engines.segments.store.word_table import WordTable

_LONGEST_CHARACTER = 4  # bytes of UTF-8


def words_with_prefix(segments: Sequence[Segment], prefix: str, limit: int) -> list[tuple[str, int]]:
    """The most frequent words that begin so, and how often each occurs."""
    totals: Counter[str] = Counter()
    candidates = {word for segment in segments for word in _frequent(segment.words, prefix, 2 * limit)}
    for segment in segments:
        totals.update(_occurrences(segment.words, sorted(candidates)))
    return sorted(totals.items(), key=lambda word: (-word[1], word[0]))[:limit]


def similar_words(segments: Sequence[Segment], word: str, max_edits: int) -> dict[str, int]:
    """The words within so many edits of another, swapped neighbours being one, and how often each occurs."""
    # Few searches need it, and all would wait for its import.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    totals: Counter[str] = Counter()
    for segment in segments:
        table = segment.words
        sizes, size = table.byte_lengths, len(word.encode())
        margin = max_edits * (1 if word.isascii() else _LONGEST_CHARACTER)
        numbers = np.flatnonzero((sizes >= max(size - margin, 1)) & (sizes <= size + margin))
        words = table.words(numbers)
        edits = cdist([word], words, scorer=OSA.distance, score_cutoff=max_edits, dtype=np.uint8)[0]
        near = np.flatnonzero(edits <= max_edits)
        totals.update({words[n]: int(table.counts[numbers[n]]) for n in near.tolist()})
    totals.pop(word, None)
    return dict(totals)


def _frequent(table: WordTable, prefix: str, limit: int) -> list[str]:
    words = table.prefix_range(prefix)
    counts = np.asarray(table.counts[words.start : words.stop], np.int64)
    return table.words(np.argsort(-counts, kind="stable")[:limit] + words.start)


def _occurrences(table: WordTable, words: Sequence[str]) -> dict[str, int]:
    numbers = {word: table.find(word) for word in words}
    return {word: int(table.counts[number]) for word, number in numbers.items() if number is not None}
