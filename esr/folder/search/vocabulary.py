"""The written words of a snapshot, found by prefix and by similarity.

What is found is kept in memory, since suggestions repeat from query to query.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from esr.folder.format.segment import Segment
from esr.folder.format.words import WordTable, sign_word
from esr.index.limits import SearchMemory
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA
else:
    OSA = import_lazily("rapidfuzz.distance.OSA")
    process = import_lazily("rapidfuzz.process")

_LONGEST_CHARACTER = 4  # bytes of UTF-8


class FrequentWords:
    """The frequent words of a table with their signatures, most frequent first.

    They occur at least `least` times. Comparing signatures is much faster than reading and comparing words,
    and few signatures are close to any given one.
    """

    def __init__(self, table: WordTable, least: int) -> None:
        counts = np.asarray(table.counts)
        numbers = np.flatnonzero(counts >= least)
        numbers = numbers[np.argsort(-counts[numbers].astype(np.int64), kind="stable")]
        self._table = table
        self._numbers = numbers
        self._negative_counts = -counts[numbers].astype(np.int64)
        self._signatures = table.read_signatures(numbers)
        self.nbytes: int = numbers.nbytes + self._negative_counts.nbytes + self._signatures.nbytes

    def near(self, encoded: bytes, max_edits: int, margin: int, least: int) -> dict[str, int]:
        """Find frequent words that may be within `max_edits` of a word, with their counts.

        They occur at least `least` times. `encoded` is the word in UTF-8. The edits add or remove at most
        `margin` bytes.
        """
        end = int(np.searchsorted(self._negative_counts, -least, side="right"))
        differing = np.bitwise_count(self._signatures[:end] ^ np.uint64(sign_word(encoded)))
        # An edit removes at most one character and adds at most one.
        places = np.flatnonzero(differing <= 2 * max_edits)
        sizes = self._table.byte_lengths[self._numbers[places]].astype(np.int64)
        places = places[np.abs(sizes - len(encoded)) <= margin]
        words = self._table.words(self._numbers[places])
        return dict(zip(words, (-self._negative_counts[places]).tolist(), strict=True))


def words_with_prefix(segments: Sequence[Segment], prefix: str, limit: int) -> list[tuple[str, int]]:
    """The most frequent words with this prefix, and their numbers of occurrences."""
    totals: Counter[str] = Counter()
    candidates = {word for segment in segments for word in _frequent(segment.words, prefix, 2 * limit)}
    for segment in segments:
        totals.update({word: _occurrences(segment.words, word) for word in sorted(candidates)})
    return sorted(totals.items(), key=lambda word: (-word[1], word[0]))[:limit]


def similar_words(
    segments: Sequence[Segment], memory: SearchMemory, word: str, max_edits: int, least: int
) -> Mapping[str, int]:
    """The words within `max_edits` of a word that occur at least `least` times, with their counts.

    Swapping two adjacent letters is one edit. Results are cached, since each page of an answer asks for the
    same.
    """
    make = partial(_find_similar, segments, memory, word, max_edits, least)
    return memory.get(("similar", word, max_edits, least), make, _measure_words)


def _measure_words(words: Mapping[str, int]) -> int:
    """Memory in bytes of a table of words."""
    return sum(map(sys.getsizeof, words)) + sys.getsizeof(words)


def _find_similar(
    segments: Sequence[Segment], memory: SearchMemory, word: str, max_edits: int, least: int
) -> Mapping[str, int]:
    counts_by_segment: list[dict[str, int]] = []
    encoded, margin = word.encode(), max_edits * (1 if word.isascii() else _LONGEST_CHARACTER)
    # A word with `least` occurrences in all has at least this many in one segment.
    least_in_one = -(-least // max(len(segments), 1))
    # Lists are cached for powers of two: at worst, a list includes words half as frequent.
    level = 1 << max(least_in_one.bit_length() - 1, 0)
    for segment in segments:
        read = partial(FrequentWords, segment.words, level)
        frequent = memory.get((segment.words, "frequent", level), read)
        counts = frequent.near(encoded, max_edits, margin, least_in_one)
        counts_by_segment.append(_within_edits(word, counts, max_edits) if counts else counts)
    similar = dict.fromkeys(chain.from_iterable(counts_by_segment))
    similar.pop(word, None)
    totals = dict.fromkeys(similar, 0)
    for segment, counts in zip(segments, counts_by_segment, strict=True):
        for other in similar:
            totals[other] += counts[other] if other in counts else _occurrences(segment.words, other)
    return {other: total for other, total in totals.items() if total >= least}


def _within_edits(word: str, counts: dict[str, int], max_edits: int) -> dict[str, int]:
    """Those of the words, with their counts, that are within `max_edits` of a word."""
    edits = process.cdist([word], list(counts), scorer=OSA.distance, score_cutoff=max_edits, dtype=np.uint8)
    return dict(compress(counts.items(), (edits[0] <= max_edits).tolist()))


def _frequent(table: WordTable, prefix: str, limit: int) -> list[str]:
    words = table.prefix_range(prefix)
    counts = np.asarray(table.counts[words.start : words.stop], np.int64)
    return table.words(np.argsort(-counts, kind="stable")[:limit] + words.start)


def _occurrences(table: WordTable, word: str) -> int:
    number = table.find(word)
    return 0 if number is None else int(table.counts[number])
