"""The words of a segment as they are written (analyzer `words`), and the positions of each.

Positions run through all texts of the segment: those of the sentences, then those of the titles. One position
is skipped after each text, so consecutive positions mean adjacent words of one text. The positions of a word
are an ascending list in the code of Elias and Fano (Vigna 2013, "Quasi-succinct indices"); lists of similar
lengths share a `Group`. Words are sorted by their UTF-8, so words with a common prefix are a range.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import (
    Column,
    Mask,
    Numbers,
    map_array,
    map_bytes,
    narrow,
    save_array,
    save_bytes,
)
from esr.folder.format.strings import Content, find_string, prefix_range, select_content
from esr.processes import map_together
from esr.stdlib import cached_property

CODE_CHUNK = 1 << 17
"""Numbers whose bits are spread at once: a multiple of 8, to end at a byte border."""
_PAIR_BITS = 56  # of 64, so that they can be shifted to any bit of a byte
_STEP = 3  # low bits are rounded to a multiple of this
_WINDOW = 4  # bytes read for one number: there are fewer than 25 low bits


class Group(NamedTuple):
    """Parameters of the Elias-Fano lists of a group: the number of low bits, and a limit above all numbers.

    First come the low bits of all numbers. The high bits of a list never decrease and are coded in unary:
    each number is a 1, preceded by a 0 for each step up from the previous number. All lists have the same
    number of zeros, so the start of each is known and consecutive lists are decoded together. A list takes
    some 2 + log2(limit / length) bits per number.
    """

    low_bits: int
    limit: int

    @property
    def steps(self) -> int:
        """The number of zeros in the unary part of a list."""
        return (self.limit >> self.low_bits) + 1


def choose_low_bits(lengths: Column, limit: int) -> Column:
    """The number of low bits for lists of these lengths (at least 1) with numbers below the limit.

    The optimum is log2(limit / length). It is rounded to a multiple of 3, which costs 2 % more bytes, so that
    a few groups hold all lists, and the lists of a prefix are decoded in as many steps.
    """
    # The exponent of a float is exact, its logarithm is not.
    exponents = np.frexp(np.maximum(limit // lengths.astype(np.int64), 1).astype(float))[1] - 1
    rounded: Column = (exponents + 1) // _STEP * _STEP
    return rounded


def encode(group: Group, numbers: Column, lengths: Column) -> list[bytes | memoryview]:
    """Encode the lists of these lengths, concatenated in `numbers`. Returns the bytes in pieces."""
    starts, steps = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), group.steps
    code = np.zeros(-(-(len(numbers) + len(lengths) * steps) >> 3), np.uint8)
    for first, last in split_lists(starts):
        begin, end = int(starts[first]), int(starts[last])
        start = begin + first * steps
        bits = np.zeros((start & 7) + end - begin + (last - first) * steps, np.uint8)
        places = np.repeat(np.arange(last - first) * steps + (start & 7), lengths[first:last])
        places += np.arange(end - begin)
        places += numbers[begin:end] >> group.low_bits
        bits[places] = 1
        packed = np.packbits(bits, bitorder="little")
        code[start >> 3 :][: len(packed)] |= packed
    return [*_pack_low(numbers, group.low_bits), code.data]


def split_lists(starts: Numbers) -> Iterator[tuple[int, int]]:
    """Yield ranges of lists, first and end, whose values fit into the processor's cache together.

    List n has the values from `starts[n]` to before `starts[n + 1]`. There is at least one range.
    """
    first, count = 0, len(starts) - 1
    while True:
        fitting = int(np.searchsorted(starts, starts[first] + CODE_CHUNK, "right")) - 1
        last = min(max(fitting, first + 1), count)
        yield first, last
        if last == count:
            return
        first = last


class EncodedLists(NamedTuple):
    """Consecutive lists of a group, of these lengths.

    `content` holds the bytes of the group; its unary part starts at byte `unary`. `first` lists of the group,
    with `before` numbers in all, precede these.
    """

    group: Group
    content: Column
    unary: int
    first: int
    before: int
    lengths: Column

    def split(self) -> Iterator[EncodedLists]:
        """Yield the lists in parts that fit into the processor's cache."""
        starts = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])
        for first, last in split_lists(starts):
            before = self.before + int(starts[first])
            yield self._replace(first=self.first + first, before=before, lengths=self.lengths[first:last])


def decode(lists: EncodedLists) -> Column:
    """Decode the lists. Returns their numbers, concatenated."""
    group, content, unary_start, first, before, lengths = lists
    count, steps = int(lengths.sum()), group.steps
    start = before + first * steps
    stop = start + count + len(lengths) * steps
    unary = content[unary_start:][start >> 3 : -(-stop >> 3)]
    bits = np.unpackbits(unary, bitorder="little")[start & 7 :][: stop - start]
    numbers = np.flatnonzero(bits.view(bool)).astype(np.int32)
    numbers -= np.arange(count, dtype=np.int32)
    if len(lengths) > 1:
        numbers -= np.repeat(np.arange(len(lengths), dtype=np.int32) * np.int32(steps), lengths)
    numbers <<= group.low_bits
    numbers |= _unpack_low(content, group.low_bits, before, count)
    return numbers


def low_code_size(count: int, low_bits: int) -> int:
    """Size in bytes of the low bits of `count` numbers, which precede the unary part."""
    return -(-count * low_bits >> 3) + _WINDOW


def _pack_low(numbers: Column, low_bits: int) -> Iterator[bytes]:
    size = low_code_size(len(numbers), low_bits) - _WINDOW
    for first in range(0, len(numbers), CODE_CHUNK) if low_bits else ():
        packed = _pack_chunk(numbers[first : first + CODE_CHUNK], low_bits)
        yield packed[: size - (first * low_bits >> 3)]
    yield bytes(_WINDOW)


def _pack_chunk(numbers: Column, low_bits: int) -> bytes:
    """Pack the low bits of numbers. Zeros fill the last bytes."""
    words = np.zeros(-(-len(numbers) // 8) * 8, "<u8")
    words[: len(numbers)] = numbers & ((1 << low_bits) - 1)
    rows, width = len(words) // 8, low_bits
    while 2 * width <= _PAIR_BITS and len(words) > rows:  # two neighbours become one number
        words = words[::2] | words[1::2] << np.uint64(width)
        width *= 2
    lanes = np.zeros((-(-low_bits >> 3), rows), "<u8")
    for place, column in enumerate(words.reshape(rows, -1).T):
        lane, shift = divmod(place * width, 64)
        lanes[lane] |= column << np.uint64(shift)
        if shift + width > 64:
            lanes[lane + 1] |= column >> np.uint64(64 - shift)
    return np.ascontiguousarray(lanes.T).view(np.uint8)[:, :low_bits].tobytes()


def _unpack_low(content: Column, low_bits: int, start: int, count: int) -> Column:
    """Decode the low bits of `count` numbers, from number `start` on."""
    if not low_bits:
        return np.zeros(count, np.int32)
    # Eight numbers take whole bytes: one row.
    skipped, first_byte = start & 7, (start >> 3) * low_bits
    rows = -(-(skipped + count) >> 3)
    content = content[first_byte : first_byte + rows * low_bits + _WINDOW]
    if missing := rows * low_bits + _WINDOW - len(content):
        content = np.concatenate([content, np.zeros(missing, np.uint8)])
    numbers, mask = np.empty((rows, 8), np.uint32), np.uint32((1 << low_bits) - 1)
    for place in range(8):
        first, shift = divmod(place * low_bits, 8)
        windows = np.ndarray((rows,), "<u4", content, first, (low_bits,))
        np.right_shift(windows, np.uint32(shift), out=numbers[:, place])
    numbers &= mask
    return numbers.reshape(-1)[skipped:][:count].view(np.int32)


# Positions

_GROUPS = 32  # every number of low bits is below this
BLOCK_BITS = 4  # log2 of the positions in a block: blocks are shorter than most sentences
_BLOCK_BYTES = 4
_LIST_BYTES = 20
"""Memory for each word in `PositionLists`, without the arrays shared with other objects."""


class PositionLists(NamedTuple):
    """The encoded positions of a segment's words, for a decoder of single lists.

    `content` holds the bytes of all groups. The group with n low bits starts at `begins[n]` and its unary
    part at `unary[n]`, both of shape (32,). For each word, of shape (W,): its `group`, the number of lists
    (`rank`) and of numbers (`before`) that precede its list in the group, and the length of the list
    (`counts`).
    """

    content: Column
    begins: Column
    unary: Column
    limit: int
    group: Column
    rank: Column
    before: Column
    counts: Column


class WordPositions:
    """Finds the positions of words, from the mapped files of a `WordTable`.

    It takes about 12 bytes for each sentence and each word of the segment. Callers decide how long to keep
    it.
    """

    def __init__(
        self,
        counts: Column,
        content: memoryview,
        group_ends: Column,
        text_lengths: Column,
        sentence_count: int,
    ) -> None:
        self._counts = counts
        self._content = content
        self._group_ends = group_ends
        self._sentence_count = sentence_count
        self._text_starts = text_starts(text_lengths)
        self._group_of = choose_low_bits(counts, self._limit).astype(np.uint8)
        self._members = self._find_members()
        members = sum(array.nbytes for arrays in self._members.values() for array in arrays)
        block_count = -(-int(self.sentence_starts[-1]) >> BLOCK_BITS)
        tables = self._text_starts.nbytes + _BLOCK_BYTES * block_count + self._group_of.nbytes
        self.nbytes: int = tables + members + _LIST_BYTES * len(counts)
        """Memory in bytes, including `block_sentences` and `position_lists`."""

    def positions(self, number: int) -> Column:
        """The positions of a word, ascending."""
        (lists,) = self.encoded_positions(range(number, number + 1))
        return decode(lists)

    def encoded_positions(self, words: range) -> Iterator[EncodedLists]:
        """Yield the encoded positions of consecutive words, those of each group together."""
        for group in _distinct(self._group_of[words.start : words.stop]):
            members, before = self._members[group]
            first, last = np.searchsorted(members, (words.start, words.stop)).tolist()
            begin, end = (int(self._group_ends[group + n]) for n in (0, 1))
            yield EncodedLists(
                Group(group, self._limit),
                np.frombuffer(self._content, np.uint8, end - begin, begin),
                low_code_size(int(before[-1]), group),
                first,
                int(before[first]),
                self._counts[members[first:last]].astype(np.int64),
            )

    def words_of(self, lists: EncodedLists) -> Column:
        """The words whose positions these lists hold, in their order."""
        members, _ = self._members[lists.group.low_bits]
        words: Column = members[lists.first : lists.first + len(lists.lengths)]
        return words

    @cached_property
    def position_lists(self) -> PositionLists:
        """The encoded positions of all words, for a decoder of single lists."""
        rank, before = np.empty(len(self._counts), np.int32), np.empty(len(self._counts), np.int64)
        unary = np.zeros(_GROUPS, np.int64)
        for group, (members, before_members) in self._members.items():
            rank[members] = np.arange(len(members))
            before[members] = before_members[:-1]
            low_size = low_code_size(int(before_members[-1]), group)
            unary[group] = int(self._group_ends[group]) + low_size
        begins = np.zeros(_GROUPS, np.int64)
        begins[: len(self._group_ends)] = self._group_ends[:_GROUPS]
        content = np.frombuffer(self._content, np.uint8)
        counts = self._counts.astype(np.int64)
        return PositionLists(content, begins, unary, self._limit, self._group_of, rank, before, counts)

    def positions_of_range(self, words: range) -> Column:
        """The positions of these words, in no particular order."""
        return np.concatenate([np.zeros(0, np.int32), *map(decode, self.encoded_positions(words))])

    def sentences(self, positions: Column) -> Column:
        """The sentences that contain these positions, possibly repeated. Positions in titles are ignored."""
        starts = self._text_starts
        positions = positions[positions < starts[self._sentence_count]]
        sentences: Column = self.block_sentences[positions >> BLOCK_BITS]
        while (is_later := starts[sentences + 1] <= positions).any():
            sentences += is_later
        return sentences

    def titles(self, positions: Column) -> Column:
        """The documents whose titles contain these positions, possibly repeated.

        Positions in sentences are ignored.
        """
        starts = self._text_starts[self._sentence_count :]
        titles: Column = np.searchsorted(starts, positions[positions >= starts[0]], "right") - 1
        return titles

    @property
    def sentence_starts(self) -> Column:
        """The position of the first word of each sentence, and the first position after all sentences."""
        return self._text_starts[: self._sentence_count + 1]

    @property
    def _limit(self) -> int:
        return int(self._text_starts[-1])

    @cached_property
    def block_sentences(self) -> Column:
        """The sentence of the first position in each block. Its other positions are a few sentences on."""
        # A pass over the sentences takes less time than a search for each block.
        blocks_before = (self.sentence_starts.astype(np.int64) + (1 << BLOCK_BITS) - 1) >> BLOCK_BITS
        return np.repeat(np.arange(self._sentence_count, dtype=np.int32), np.diff(blocks_before))

    def _find_members(self) -> dict[int, tuple[Column, Column]]:
        """For each group, its words, and the number of positions before each word, followed by the total."""
        members = {}
        for group in _distinct(self._group_of):
            numbers = np.flatnonzero(self._group_of == group).astype(np.int32)
            members[group] = numbers, np.concatenate([[0], np.cumsum(self._counts[numbers], dtype=np.int64)])
        return members


def _distinct(groups: Column) -> list[int]:
    """The distinct groups, ascending. The first np.unique of a process takes .04 s, for an import."""
    present: list[int] = np.flatnonzero(np.bincount(groups)).tolist()
    return present


def text_starts(lengths: Column) -> Column:
    """The first position of each text, given the texts' lengths in words, and the limit of all positions."""
    starts = np.arange(len(lengths) + 1, dtype=np.int32)
    starts[1:] += np.cumsum(lengths, dtype=np.int32)
    return starts


# The table of words

_NAME = "words"
SIGNATURE_CHUNK = 1 << 16
"""Words whose signatures are computed at once."""
_BIT_OF_BYTE = np.array([1 << (code & 63) if code < 128 else 0 for code in range(256)], np.uint64)


class WordTable:
    """The words of a segment, numbered in the order of their UTF-8, and how often each occurs."""

    def __init__(self, folder: Path, sentence_count: int) -> None:
        """Map the files. Raises ValueError or FileNotFoundError if they are incomplete."""
        self._bytes = map_bytes(f"{folder}/{_NAME}.bytes")
        self._lengths = map_array(f"{folder}/{_NAME}.lengths.npy")
        self.counts: npt.NDArray[Any] = map_array(f"{folder}/{_NAME}.counts.npy")
        """The number of occurrences of each word."""
        self._positions = map_bytes(f"{folder}/{_NAME}.places.bytes")
        self._group_ends = map_array(f"{folder}/{_NAME}.groups.npy")
        self.text_lengths: npt.NDArray[Any] = map_array(f"{folder}/{_NAME}.texts.npy")
        """The number of words of each text: of the sentences, then of the titles."""
        self._sentence_count = sentence_count
        sizes = int(self._lengths.sum(dtype=np.int64)), int(self._group_ends[-1])
        if (len(self._bytes), len(self._positions)) != sizes or len(self.counts) != len(self._lengths):
            raise ValueError(f"{folder / _NAME} is truncated")

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, number: int) -> str:
        return self._encoded(number).decode()

    def find(self, word: str) -> int | None:
        """The number of a word, or None."""
        return find_string(len(self), self._encoded, word)

    def prefix_range(self, prefix: str) -> range:
        """The numbers of the words with this prefix."""
        return prefix_range(len(self), self._encoded, prefix)

    def words(self, numbers: Column) -> list[str]:
        """The words with these numbers."""
        ends = self._ends
        bounds = zip(ends[numbers].tolist(), ends[numbers + 1].tolist(), strict=True)
        return [str(self._bytes[start:stop], "utf-8") for start, stop in bounds]

    def select(self, mask: Mask) -> Content:
        """The words of the mask in UTF-8, without copies."""
        return select_content(self._bytes, self._ends, mask)

    @property
    def byte_lengths(self) -> Column:
        """The length of each word in bytes of UTF-8."""
        return self._lengths

    def read_signatures(self, numbers: Column) -> npt.NDArray[np.uint64]:
        """The signatures of the words with these numbers."""
        content, signatures = np.frombuffer(self._bytes, np.uint8), np.empty(len(numbers), np.uint64)
        for first in range(0, len(numbers), SIGNATURE_CHUNK):
            chunk = numbers[first : first + SIGNATURE_CHUNK]
            starts, lengths = self._ends[chunk], self._lengths[chunk].astype(np.int64)
            begins = np.cumsum(lengths) - lengths
            positions = np.arange(int(lengths.sum())) + np.repeat(starts - begins, lengths)
            signatures[first : first + SIGNATURE_CHUNK] = np.bitwise_or.reduceat(
                _BIT_OF_BYTE[content[positions]], begins
            )
        return signatures

    def read_positions(self) -> WordPositions:
        """Open the positions of the words."""
        return WordPositions(
            self.counts, self._positions, self._group_ends, self.text_lengths, self._sentence_count
        )

    def _encoded(self, number: int) -> bytes:
        return bytes(self._bytes[self._end_view[number] : self._end_view[number + 1]])

    @cached_property
    def _ends(self) -> Column:
        return np.concatenate([[0], np.cumsum(self._lengths, dtype=np.int64)])

    @cached_property
    def _end_view(self) -> memoryview:
        """The ends as a memoryview, which reads a single number in a third of the time of an array."""
        return memoryview(self._ends)  # type: ignore[arg-type]


def sign_word(encoded: bytes) -> int:
    """The signature of a word in UTF-8: its set of ASCII characters in 64 bits, some of which share a bit."""
    return int(np.bitwise_or.reduce(_BIT_OF_BYTE[np.frombuffer(encoded, np.uint8)]))


def save_words(
    folder: Path, words: list[str], numbers: Column, positions: Column, text_lengths: Column
) -> None:
    """Write the files of a word table.

    `words` are sorted. `numbers` and `positions` are the word number and the position of each occurrence, in
    any order.
    """
    limit = int(text_starts(text_lengths)[-1])
    counts = np.bincount(numbers, minlength=len(words))
    keys = rank_words(counts, limit)[numbers] << limit.bit_length() | positions
    keys.sort()
    keys &= (1 << limit.bit_length()) - 1
    content = Content.join([word.encode() for word in words])
    save_sorted_words(folder, content, counts, keys, text_lengths)


def rank_words(counts: Column, limit: int) -> Numbers:
    """The rank of each word in the order of groups, then of words.

    `counts` are the words' numbers of positions. All positions are below `limit`.
    """
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(choose_low_bits(counts, limit), kind="stable")] = np.arange(len(counts))
    return rank


def save_sorted_words(
    folder: Path, words: Content, counts: Column, positions: Column, text_lengths: Column
) -> None:
    """Write the files of a word table, given the positions of the words in the order of `rank_words`."""
    limit = int(text_starts(text_lengths)[-1])
    group_of = choose_low_bits(counts, limit)
    order = np.argsort(group_of, kind="stable")
    # Sorted by group, then by word: each group is a slice.
    group_counts = counts[order]
    starts = np.concatenate([[0], np.cumsum(group_counts, dtype=np.int64)])
    borders = np.searchsorted(group_of[order], np.arange(int(group_of.max(initial=0)) + 2)).tolist()

    def encode_group(group: int) -> list[bytes | memoryview]:
        first, last = borders[group : group + 2]
        if first == last:
            return []
        of_group = positions[int(starts[first]) : int(starts[last])]
        return encode(Group(group, limit), of_group, group_counts[first:last])

    encoded = map_together(encode_group, range(len(borders) - 1))
    save_bytes(folder / f"{_NAME}.bytes", words.pieces)
    save_array(folder / f"{_NAME}.lengths.npy", narrow(words.lengths))
    save_array(folder / f"{_NAME}.counts.npy", narrow(counts))
    save_bytes(folder / f"{_NAME}.places.bytes", chain.from_iterable(encoded))
    ends = np.cumsum([0, *(sum(map(len, pieces)) for pieces in encoded)], dtype=np.int64)
    save_array(folder / f"{_NAME}.groups.npy", ends)
    save_array(folder / f"{_NAME}.texts.npy", narrow(text_lengths))
