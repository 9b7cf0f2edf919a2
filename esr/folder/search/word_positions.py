"""Positions of words and phrases in the texts of a segment.

Those of frequent words are kept in memory, since phrases share words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Mask
from esr.folder.format.words import BLOCK_BITS, WordPositions, WordTable
from esr.folder.search.kernel_loader import LOADER
from esr.index.limits import SearchMemory

Positions = npt.NDArray[np.int32]
_NOWHERE = np.zeros(0, np.int32)
FREQUENT_WORD = 1 << 13
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
        if table.counts[number] < FREQUENT_WORD:
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
