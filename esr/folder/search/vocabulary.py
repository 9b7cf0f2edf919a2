"""The written words of a snapshot: by prefix, by similarity, as phrases, and their usual spelling.

Positions of frequent words and facts about single words are kept in memory, since phrases share words and
suggestions repeat from query to query.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Mask, Numbers
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import Snapshot
from esr.folder.format.words import BLOCK_BITS, WordPositions, WordTable, sign_word
from esr.folder.search.kernel_loader import LOADER
from esr.folder.search.records import DocumentCache, read_records
from esr.index.limits import SearchMemory
from esr.index.names import SAMPLE, choose_written_form

_LONGEST_CHARACTER = 4  # bytes of UTF-8


class _FrequentWords:
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
        self.nbytes = numbers.nbytes + self._negative_counts.nbytes + self._signatures.nbytes

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
    found: list[dict[str, int]] = []
    encoded, margin = word.encode(), max_edits * (1 if word.isascii() else _LONGEST_CHARACTER)
    # A word with `least` occurrences in all has at least this many in one segment.
    least_in_one = -(-least // max(len(segments), 1))
    # Lists are cached for powers of two: at worst, a list includes words half as frequent.
    level = 1 << max(least_in_one.bit_length() - 1, 0)
    for segment in segments:
        read = partial(_FrequentWords, segment.words, level)
        frequent = memory.get((segment.words, "frequent", level), read)
        counts = frequent.near(encoded, max_edits, margin, least_in_one)
        found.append(_within_edits(word, counts, max_edits) if counts else counts)
    similar = dict.fromkeys(chain.from_iterable(found))
    similar.pop(word, None)
    totals = dict.fromkeys(similar, 0)
    for segment, counts in zip(segments, found, strict=True):
        for other in similar:
            totals[other] += counts[other] if other in counts else _occurrences(segment.words, other)
    return {other: total for other, total in totals.items() if total >= least}


def _within_edits(word: str, counts: dict[str, int], max_edits: int) -> dict[str, int]:
    """Those of the words, with their counts, that are within `max_edits` of a word."""
    # Imported here, since few searches compare words.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    edits = cdist([word], list(counts), scorer=OSA.distance, score_cutoff=max_edits, dtype=np.uint8)
    return dict(compress(counts.items(), (edits[0] <= max_edits).tolist()))


def _frequent(table: WordTable, prefix: str, limit: int) -> list[str]:
    words = table.prefix_range(prefix)
    counts = np.asarray(table.counts[words.start : words.stop], np.int64)
    return table.words(np.argsort(-counts, kind="stable")[:limit] + words.start)


def _occurrences(table: WordTable, word: str) -> int:
    number = table.find(word)
    return 0 if number is None else int(table.counts[number])


Positions = npt.NDArray[np.int32]
_NOWHERE = np.zeros(0, np.int32)
_FREQUENT = 1 << 13
"""Number of occurrences from which a word's positions are kept.

Few words are this frequent, but many phrases contain one of them.
"""


class PositionCache:
    """The positions of words, kept in memory for frequent words. Threads share it."""

    def __init__(self, memory: SearchMemory) -> None:
        self._memory = memory

    def of(self, table: WordTable) -> WordPositions:
        """The positions of the words of a table."""
        return self._memory.get((table, "places"), table.read_positions)

    def get(self, table: WordTable, number: int) -> Positions:
        """The positions of a word."""
        if table.counts[number] < _FREQUENT:
            return self.of(table).positions(number)
        return self._memory.get((table, number), lambda: self.of(table).positions(number))


def find_phrase(table: WordTable, words: Sequence[str], cache: PositionCache) -> Positions:
    """The positions of the first of these words where they are adjacent and in this order."""
    numbers = [table.find(word) for word in words]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return _NOWHERE
    # Rarest first: the other words are only looked up next to it.
    order = sorted(range(len(known)), key=lambda n: int(table.counts[known[n]]))
    starts = cache.get(table, known[order[0]]) - np.int32(order[0])
    for n in order[1:]:
        if not len(starts):
            break
        starts = starts[_contains(cache.get(table, known[n]), starts + np.int32(n))]
    return starts


def mask_prefix(table: WordTable, prefix: str, sentence_count: int, cache: PositionCache) -> Mask:
    """Mask of the sentences that contain a word with this prefix.

    The kernel is used if it is loaded, since a prefix may have very many occurrences.
    """
    mask, words, positions = np.zeros(sentence_count, bool), table.prefix_range(prefix), cache.of(table)
    if LOADER.kernel is None:
        mask[positions.sentences(positions.positions_of_range(words))] = True
        return mask
    sentences = positions.sentence_starts, positions.block_sentences, BLOCK_BITS
    LOADER.kernel.mark_positions(mask, words.start, words.stop, tuple(positions.position_lists), sentences)
    return mask


def find_prefix(table: WordTable, prefix: str, cache: PositionCache) -> Positions:
    """The positions of the words with this prefix, in no particular order."""
    return cache.of(table).positions_of_range(table.prefix_range(prefix))


def _contains(ascending: Positions, values: Positions) -> npt.NDArray[np.bool_]:
    """Mask of the values that occur in `ascending`."""
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[at] == values)


V = TypeVar("V")
_ENTRY_BYTES = 200
"""Memory in bytes of a word and a fact about it."""


class _WordFacts(dict[str, V]):
    """Facts about some words."""

    @property
    def nbytes(self) -> int:
        return _ENTRY_BYTES * len(self)


class WordUsage:
    """How the sentences of a snapshot use single words. Threads share it."""

    def __init__(
        self, snapshot: Snapshot, positions: PositionCache, documents: DocumentCache, memory: SearchMemory
    ) -> None:
        self._snapshot = snapshot
        self._documents = documents
        self._positions = positions
        self._memory = memory
        self._token = object()
        """Separates the words of this snapshot in the shared memory without keeping the snapshot alive."""

    def count_sentences(self, word: str) -> int:
        """Count the sentences that contain a word of the analyzer `words`."""
        return self._recall("count", word, self._count_sentences)

    def written_form(self, word: str) -> str:
        """The written form of a word in most of the first sentences that contain it."""
        return self._recall("form", word, self._read_written_form)

    def _recall(self, what: str, word: str, make: Callable[[str], V]) -> V:
        # Words with the same beginning share an entry: each is much smaller than the least size of an entry.
        key = self._token, what, word[:2]
        facts: _WordFacts[V] = self._memory.get(key, _WordFacts)
        value = facts.get(word)
        if value is None:
            value = make(word)
            if value:  # unknown words must not fill the memory
                facts[word] = value
                self._memory.resize(key, facts.nbytes)
        return value

    def _count_sentences(self, word: str) -> int:
        return sum(len(numbers) for _, numbers in self._find_sentences(word))

    def _read_written_form(self, word: str) -> str:
        bases = self._snapshot.statistics.sentence_bases
        ordinals: list[int] = []
        for owner, numbers in self._find_sentences(word):
            ordinals += (numbers[: SAMPLE - len(ordinals)] + bases[owner]).tolist()
            if len(ordinals) == SAMPLE:
                break
        records = read_records(self._snapshot, self._documents, ordinals)
        return choose_written_form(word, [record.text for record in records])

    def _find_sentences(self, word: str) -> Iterator[tuple[int, Numbers]]:
        """Yield the index of each segment with the word, and the sentences that contain it, ascending."""
        for owner, segment in enumerate(self._snapshot.segments):
            number = segment.words.find(word)
            if number is not None:
                positions = self._positions.of(segment.words)
                sentences = positions.sentences(positions.positions(number))
                # They ascend with the positions, and repeat if a sentence contains the word twice.
                yield owner, sentences[np.flatnonzero(np.diff(sentences, prepend=-1))]
