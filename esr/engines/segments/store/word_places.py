"""Where the words of a segment occur: what is computed from the files of a `WordTable` to find it.

It takes some 12 bytes for each sentence and each word of the segment, so whoever searches decides how long to
keep it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from esr.engines.segments.store import elias_fano
from esr.engines.segments.store.elias_fano import Array, EncodedLists, Group

_GROUPS = 32  # numbers have fewer bits
BLOCK_BITS = 4  # of the number of places in a block: fewer than most sentences have
_LIST_BYTES = 20
"""Memory of a word in `PlaceLists`, beside what they share with others."""


class PlaceLists(NamedTuple):
    """The lists of a segment's words, as `elias_fano` has them.

    `content` are the bytes of all groups. A group is known by its number of low bits: its bytes begin at
    `begins`, those of its unary part at `unary`, both of shape (32,). Of each word, of shape (W,): its group,
    and how many lists (`rank`) and numbers (`before`) of the group precede its own, which has `counts`.
    """

    content: Array
    begins: Array
    unary: Array
    limit: int
    group: Array
    rank: Array
    before: Array
    counts: Array


class WordPlaces:
    """The places of the words of a table. The arguments are what the table's files contain."""

    def __init__(
        self, counts: Array, content: memoryview, group_ends: Array, text_lengths: Array, sentence_count: int
    ) -> None:
        self._counts = counts
        self._content = content
        self._group_ends = group_ends
        self._sentence_count = sentence_count
        self._text_starts = text_starts(text_lengths)
        self.block_sentences = self._find_block_sentences()
        """The sentence that has the first place of each block: that of another place is near."""
        self._group_of = elias_fano.choose_low_bits(counts, self._limit).astype(np.uint8)
        self._members = self._find_members()
        members = sum(array.nbytes for arrays in self._members.values() for array in arrays)
        own = self._text_starts.nbytes + self.block_sentences.nbytes + self._group_of.nbytes
        self.nbytes = own + members + _LIST_BYTES * len(counts)
        """Memory that it takes, with its lists."""

    def places(self, number: int) -> Array:
        """The places of a word, ascending."""
        (lists,) = self.encoded_places(range(number, number + 1))
        return elias_fano.decode(lists)

    def encoded_places(self, words: range) -> Iterator[EncodedLists]:
        """The places of consecutive words, in no order: the lists of each group that some of them are in."""
        for group in np.unique(self._group_of[words.start : words.stop]).tolist():
            members, before = self._members[group]
            first, last = np.searchsorted(members, (words.start, words.stop)).tolist()
            begin, end = (int(self._group_ends[group + n]) for n in (0, 1))
            yield EncodedLists(
                Group(group, self._limit),
                np.frombuffer(self._content, np.uint8, end - begin, begin),
                elias_fano.low_size(int(before[-1]), group),
                first,
                int(before[first]),
                self._counts[members[first:last]].astype(np.int64),
            )

    @cached_property
    def place_lists(self) -> PlaceLists:
        """The encoded places of all words, for a decoder of single lists."""
        rank, before = np.empty(len(self._counts), np.int32), np.empty(len(self._counts), np.int64)
        unary = np.zeros(_GROUPS, np.int64)
        for group, (members, before_members) in self._members.items():
            rank[members] = np.arange(len(members))
            before[members] = before_members[:-1]
            low_size = elias_fano.low_size(int(before_members[-1]), group)
            unary[group] = int(self._group_ends[group]) + low_size
        begins = np.zeros(_GROUPS, np.int64)
        begins[: len(self._group_ends)] = self._group_ends[:_GROUPS]
        content = np.frombuffer(self._content, np.uint8)
        counts = self._counts.astype(np.int64)
        return PlaceLists(content, begins, unary, self._limit, self._group_of, rank, before, counts)

    def places_of_range(self, words: range) -> Array:
        """The places of these words, in no order."""
        return np.concatenate([np.zeros(0, np.int32), *map(elias_fano.decode, self.encoded_places(words))])

    def sentences(self, places: Array) -> Array:
        """The sentences that have these places, which may repeat. Places in titles have none."""
        starts = self._text_starts
        places = places[places < starts[self._sentence_count]]
        sentences: Array = self.block_sentences[places >> BLOCK_BITS]
        while (is_later := starts[sentences + 1] <= places).any():
            sentences += is_later
        return sentences

    def titles(self, places: Array) -> Array:
        """The documents whose title has these places, which may repeat. Places in sentences have none."""
        starts = self._text_starts[self._sentence_count :]
        titles: Array = np.searchsorted(starts, places[places >= starts[0]], "right") - 1
        return titles

    @property
    def sentence_starts(self) -> Array:
        """The place of the first word of each sentence, and where that of the first title may be."""
        return self._text_starts[: self._sentence_count + 1]

    @property
    def _limit(self) -> int:
        return int(self._text_starts[-1])

    def _find_block_sentences(self) -> Array:
        starts = self.sentence_starts
        blocks = np.arange(0, int(starts[-1]), 1 << BLOCK_BITS)
        return (np.searchsorted(starts, blocks, "right") - 1).astype(np.int32)

    def _find_members(self) -> dict[int, tuple[Array, Array]]:
        """By group: the numbers of its words, and how many places are before those of each, then all."""
        members = {}
        for group in np.unique(self._group_of).tolist():
            numbers = np.flatnonzero(self._group_of == group).astype(np.int32)
            members[group] = numbers, np.concatenate([[0], np.cumsum(self._counts[numbers], dtype=np.int64)])
        return members


def text_starts(lengths: Array) -> Array:
    """The place of the first word of each text with so many words, then the limit of all places."""
    starts = np.arange(len(lengths) + 1, dtype=np.int32)
    starts[1:] += np.cumsum(lengths, dtype=np.int32)
    return starts
