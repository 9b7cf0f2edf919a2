"""The words of a segment as they are written (analyzer `words`), and where each occurs.

The words of all texts are numbered on: those of the sentences, then those of the titles, in order. A number
is left out after each text, so that words with consecutive numbers stand next to each other. The numbers of
a word's occurrences ascend; lists of similar lengths share a group of `elias_fano`. Words are in the order
of their bytes, which is that of their code points, so the words with a prefix are a range.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from esr.engines.segments.store import elias_fano
from esr.engines.segments.store.arrays import map_array, map_bytes, narrow, save_array, save_bytes
from esr.engines.segments.store.elias_fano import Array, EncodedLists, Group
from esr.engines.segments.store.sorted_strings import find_string, prefix_range

_NAME = "words"
_GROUPS = 32  # numbers have fewer bits
BLOCK_BITS = 4  # of the number of places in a block: fewer than most sentences have


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


class WordTable:
    """Words by number, ascending, and the places of their occurrences."""

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
                np.frombuffer(self._places, np.uint8, end - begin, begin),
                elias_fano.low_size(int(before[-1]), group),
                first,
                int(before[first]),
                self.counts[members[first:last]].astype(np.int64),
            )

    @cached_property
    def place_lists(self) -> PlaceLists:
        """The encoded places of all words, for a decoder of single lists."""
        rank, before = np.empty(len(self), np.int32), np.empty(len(self), np.int64)
        unary = np.zeros(_GROUPS, np.int64)
        for group, (members, before_members) in self._members.items():
            rank[members] = np.arange(len(members))
            before[members] = before_members[:-1]
            low_size = elias_fano.low_size(int(before_members[-1]), group)
            unary[group] = int(self._group_ends[group]) + low_size
        begins = np.zeros(_GROUPS, np.int64)
        begins[: len(self._group_ends)] = self._group_ends[:_GROUPS]
        content = np.frombuffer(self._places, np.uint8)
        counts = self.counts.astype(np.int64)
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

    def _encoded(self, number: int) -> bytes:
        return bytes(self._bytes[self._ends[number] : self._ends[number + 1]])

    @cached_property
    def _ends(self) -> Array:
        return np.concatenate([[0], np.cumsum(self._lengths, dtype=np.int64)])

    @property
    def sentence_starts(self) -> Array:
        """The place of the first word of each sentence, and where that of the first title may be."""
        return self._text_starts[: self._sentence_count + 1]

    @cached_property
    def _text_starts(self) -> Array:
        """The place of the first word of each text, and where the next text would begin."""
        return text_starts(self._text_lengths)

    @cached_property
    def block_sentences(self) -> Array:
        """The sentence that has the first place of each block: that of another place is near."""
        starts = self.sentence_starts
        blocks = np.arange(0, int(starts[-1]), 1 << BLOCK_BITS)
        return (np.searchsorted(starts, blocks, "right") - 1).astype(np.int32)

    @property
    def _limit(self) -> int:
        return int(self._text_starts[-1])

    @cached_property
    def _group_of(self) -> Array:
        return elias_fano.choose_low_bits(self.counts, self._limit).astype(np.uint8)

    @cached_property
    def _members(self) -> dict[int, tuple[Array, Array]]:
        """By group: the numbers of its words, and how many places are before those of each, then all."""
        members = {}
        for group in np.unique(self._group_of).tolist():
            numbers = np.flatnonzero(self._group_of == group).astype(np.int32)
            members[group] = numbers, np.concatenate([[0], np.cumsum(self.counts[numbers], dtype=np.int64)])
        return members


def text_starts(lengths: Array) -> Array:
    """The place of the first word of each text with so many words, then the limit of all places."""
    return np.concatenate([[0], np.cumsum(lengths.astype(np.int64) + 1)])


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
