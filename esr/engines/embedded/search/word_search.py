"""Where words stand next to each other, and where a word has a prefix, in one segment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.kernel_loader import LOADER
from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.segments.store.word_places import BLOCK_BITS, WordPlaces
from esr.engines.segments.store.word_table import WordTable

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]
_NOWHERE = np.zeros(0, np.int32)
_FREQUENT = 1 << 13
"""Occurrences from which it pays to remember where a word stands: few words have more, and many phrases
have one."""


class PlaceCache:
    """Where words occur, and the places of frequent words. Threads share it."""

    def __init__(self, memory: SearchMemory) -> None:
        self._memory = memory

    def of(self, table: WordTable) -> WordPlaces:
        """Where the words of a table occur."""
        return self._memory.get((table, "places"), table.read_places)

    def get(self, table: WordTable, number: int) -> Places:
        """The places of a word."""
        if table.counts[number] < _FREQUENT:
            return self.of(table).places(number)
        return self._memory.get((table, number), lambda: self.of(table).places(number))


def find_phrase(table: WordTable, words: Sequence[str], cache: PlaceCache) -> Places:
    """The places where these words begin, next to each other in this order."""
    numbers = [table.find(word) for word in words]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return _NOWHERE
    # The rarest first: the others are only looked up beside it.
    order = sorted(range(len(known)), key=lambda n: int(table.counts[known[n]]))
    starts = cache.get(table, known[order[0]]) - np.int32(order[0])
    for n in order[1:]:
        if not len(starts):
            break
        starts = starts[_contains(cache.get(table, known[n]), starts + np.int32(n))]
    return starts


def mask_prefix(table: WordTable, prefix: str, sentence_count: int, cache: PlaceCache) -> Mask:
    """Which sentences have a word with this prefix. Such words may be so frequent that the kernel is used."""
    mask, words, places = np.zeros(sentence_count, bool), table.prefix_range(prefix), cache.of(table)
    if LOADER.kernel is None:
        mask[places.sentences(places.places_of_range(words))] = True
        return mask
    sentences = places.sentence_starts, places.block_sentences, BLOCK_BITS
    LOADER.kernel.mark_places(mask, words.start, words.stop, tuple(places.place_lists), sentences)
    return mask


def find_prefix(table: WordTable, prefix: str, cache: PlaceCache) -> Places:
    """The places of the words with this prefix, in no order."""
    return cache.of(table).places_of_range(table.prefix_range(prefix))


def _contains(ascending: Places, values: Places) -> npt.NDArray[np.bool_]:
    """Which of the values occur."""
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[at] == values)
