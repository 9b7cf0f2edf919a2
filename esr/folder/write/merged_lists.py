"""Lists merged and renumbered: postings by term, positions by word, documents by attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from esr.folder.format.files import (
    Column,
    Mask,
    Numbers,
)
from esr.folder.format.strings import Content
from esr.folder.format.words import (
    split_lists,
)
from esr.folder.write.reduction import kept_runs


class RemainingRows(NamedTuple):
    """The mask of the remaining documents or sentences of a segment, and their new numbers."""

    remain: Mask
    new: Numbers
    total: int

    @classmethod
    def number(cls, masks: Sequence[Mask]) -> list[RemainingRows]:
        """Number the remaining rows of the segments, one segment after another."""
        counts = [int(np.count_nonzero(mask)) for mask in masks]
        ends = np.cumsum(counts)
        return [
            cls(mask, np.cumsum(mask) + (end - count - 1), count)
            for mask, count, end in zip(masks, counts, ends.tolist(), strict=True)
        ]


REMOVED = np.iinfo(np.int32).min
"""The number of a removed row. As the shift of a removed text's positions, it makes them negative."""


MANY_KEPT = 256
"""If at most one in this many values is removed, runs of the others are copied."""


class NumberLists(NamedTuple):
    """Lists of values: the number of each list, its length, and all values, in columns of the same length.

    No two lists have the same number.
    """

    numbers: Numbers
    lengths: Numbers
    values: tuple[Column, ...]

    @classmethod
    def from_rows(
        cls, starts: Column, rows: RemainingRows, read: Callable[[int, int], Sequence[Column]]
    ) -> Iterator[NumberLists]:
        """Yield the lists of the rows that remain, under their new numbers, consecutive lists together.

        List n begins at `starts[n]`. `read` returns the rows of a range of lists, then their other columns.
        """
        starts = starts.astype(np.int64)
        new = np.where(rows.remain, rows.new, REMOVED).astype(np.int32)
        for first, last in split_lists(starts):
            numbers, *others = read(first, last)
            numbers = new[numbers]
            lists = cls(np.arange(first, last), np.diff(starts[first : last + 1]), (numbers, *others))
            yield lists.select(numbers >= 0)

    def select(self, mask: Mask) -> NumberLists:
        """The lists restricted to the values of the mask."""
        if mask.all():
            return self
        removed = np.flatnonzero(~mask)
        list_of = np.searchsorted(np.cumsum(self.lengths), removed, "right")
        lengths = self.lengths - np.bincount(list_of, minlength=len(self.lengths))
        if MANY_KEPT * len(removed) > len(mask):
            return NumberLists(self.numbers, lengths, tuple(column[mask] for column in self.values))
        pieces = [*kept_runs(removed, len(mask))]  # a mask would take several times as long
        values = tuple(np.concatenate([column[piece] for piece in pieces]) for column in self.values)
        return NumberLists(self.numbers, lengths, values)

    def renumber(self, new: Numbers) -> NumberLists:
        """The nonempty lists under their new numbers."""
        used = self.lengths > 0
        return self._replace(numbers=new[self.numbers[used]], lengths=self.lengths[used])


def merge_lists(lists: Sequence[NumberLists], count: int) -> tuple[Numbers, list[Column]]:
    """Concatenate lists with the same number, in order. Returns the start of each list, and all values."""
    numbers = np.concatenate([part.numbers for part in lists])
    lengths = np.concatenate([part.lengths for part in lists])
    starts = np.zeros(count + 1, np.int64)
    np.add.at(starts, numbers + 1, lengths)
    # Consecutive lists that stay adjacent form one piece.
    order = np.argsort(numbers, kind="stable")
    is_first = np.diff(order, prepend=-2) != 1
    ends = np.concatenate([[0], np.cumsum(lengths)])
    pieces = _locate(
        ends[order[is_first]], ends[order[np.roll(is_first, -1)] + 1], [len(part.values[0]) for part in lists]
    )
    merged = [
        np.concatenate([columns[n][piece] for n, piece in pieces])
        for columns in zip(*(part.values for part in lists), strict=True)
    ]
    return np.cumsum(starts), merged


def _locate(begins: Numbers, stops: Numbers, sizes: Sequence[int]) -> list[tuple[int, slice]]:
    """Locate the pieces from `begins` to `stops` of an array that is split into parts of these sizes."""
    borders = np.concatenate([[0], np.cumsum(sizes)])
    firsts = np.searchsorted(borders, begins, "right") - 1
    lasts = np.searchsorted(borders, stops, "left")
    starts = borders.tolist()
    pieces = [
        (part, slice(max(begin - starts[part], 0), stop - starts[part]))
        for begin, stop, first, last in zip(
            *(column.tolist() for column in (begins, stops, firsts, lasts)), strict=True
        )
        for part in range(first, last)
    ]
    return pieces or [(0, slice(0))]


class UnitedTable(NamedTuple):
    """The distinct strings of several tables, in order, and by table the new number of each string.

    They are ordered by key: the hash of a term, the name of an attribute.
    """

    keys: list[Any]
    strings: Content
    new: list[Numbers]

    @classmethod
    def unite(cls, tables: Sequence[tuple[list[Any], Content, Mask]]) -> UnitedTable:
        """`tables` have the keys of the strings still in use, these strings, and their mask."""
        if len(tables) == 1:
            keys, strings, used = tables[0]
            return cls(keys, strings, [np.cumsum(used) - 1])
        items = [[*zip(keys, strings.split(), strict=True)] for keys, strings, _ in tables]
        united = sorted(set(chain.from_iterable(items)))
        number_of = {item: number for number, item in enumerate(united)}
        new = [np.zeros(len(used), np.int64) for _, _, used in tables]
        for numbers, of_table, (_, _, used) in zip(new, items, tables, strict=True):
            numbers[used] = [number_of[item] for item in of_table]
        return cls([key for key, _ in united], Content.join([string for _, string in united]), new)


def renumber_lists(lists: Sequence[Sequence[NumberLists]], new: Sequence[Numbers]) -> list[NumberLists]:
    """The lists of all segments under their new numbers, `new` by segment."""
    return [
        part.renumber(numbers) for of_segment, numbers in zip(lists, new, strict=True) for part in of_segment
    ]


def find_used(lists: Sequence[NumberLists], count: int) -> Mask:
    """Mask of the nonempty ones among `count` lists of a segment."""
    used = np.zeros(count, bool)
    for part in lists:
        used[part.numbers] = part.lengths > 0
    return used


def sum_lists(values: Column, starts: Numbers) -> Numbers:
    """The sum of each list, 0 for an empty one."""
    sums, used = np.zeros(len(starts) - 1, np.int64), np.diff(starts) > 0
    if used.any():
        sums[used] = np.add.reduceat(values, starts[:-1][used], dtype=np.int64)
    return sums
