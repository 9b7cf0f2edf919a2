"""Postings of a segment of which nearly all remains.

They are not unpacked: the numbers of later documents and sentences are reduced in the stored columns, chunk
by chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from esr.folder.format.files import (
    Column,
    Mask,
    Numbers,
    narrow,
)
from esr.folder.format.segment import (
    COUNT_BITS,
    POSTINGS,
    Segment,
    unpack,
)

MAX_RUNS = 8
"""Maximum number of runs of removed documents. Each is compared with all postings."""
CACHED_POSTINGS = 1 << 17
"""Number of postings that fit into the processor's cache."""

Run = tuple[int, int]
"""Consecutive removed numbers: the first one, and the first one after them."""


class Reduced(NamedTuple):
    """The columns of the remaining postings, and the mask of the terms with any."""

    columns: dict[str, Column]
    used: Mask


def reduce_postings(segment: Segment, remain: Mask) -> Reduced | None:
    """The postings of the documents of this mask, as a merge writes them; None if a merge is needed.

    A merge is needed if there are too many runs of removed documents, or if the packing of postings may
    change.
    """
    runs = _find_runs(remain)
    packed, bits = segment.column(POSTINGS), segment.count_bits
    if len(runs) > MAX_RUNS or packed.dtype != np.int32:
        return None
    first = segment.column("first").tolist()
    sentences = [(first[start] << bits, first[stop] << bits) for start, stop in runs]
    starts = segment.column("sentence_starts").astype(np.int64)
    removed = _find_places(packed, sentences)
    _, counts = unpack(packed[removed], bits)
    if int(counts.max(initial=0)).bit_length() == bits:  # the posting with the greatest count may be removed
        return None
    terms = np.searchsorted(starts, removed, "right") - 1
    occurrences = segment.column("occurrences").astype(np.int64)
    occurrences -= np.bincount(terms, counts, len(occurrences)).astype(np.int64)
    lengths = np.diff(starts) - np.bincount(terms, minlength=len(occurrences))
    numbers, document_starts = segment.column("document_numbers"), segment.column("document_starts")
    removed_documents = _find_places(numbers, runs)
    terms = np.searchsorted(document_starts, removed_documents, "right") - 1
    document_lengths: Column = np.diff(document_starts.astype(np.int64))
    document_lengths = document_lengths - np.bincount(terms, minlength=len(occurrences))
    used: Mask = document_lengths > 0
    columns = {
        "sentence_starts": _to_starts(lengths[used]),
        "occurrences": narrow(occurrences[used]),
        POSTINGS: _move_up(packed, removed, sentences),
        COUNT_BITS: segment.column(COUNT_BITS),
        "document_starts": _to_starts(document_lengths[used]),
        "document_numbers": narrow(_move_up(numbers, removed_documents, runs)),
        "document_counts": narrow(_move_up(segment.column("document_counts"), removed_documents, ())),
    }
    return Reduced(columns, used)


def kept_runs(removed: Numbers, length: int) -> Iterator[slice]:
    """Yield the runs, possibly empty, between the removed positions of a column of this length."""
    for before, end in pairwise([-1, *removed.tolist(), length]):
        yield slice(before + 1, end)


def _find_runs(remain: Mask) -> list[Run]:
    borders = np.flatnonzero(np.diff(~remain, prepend=False, append=False)).tolist()
    return [*zip(borders[::2], borders[1::2], strict=True)]


def _chunks(column: Column) -> Iterator[tuple[int, Column]]:
    """Yield parts of a column, each with its start."""
    unsigned = _as_unsigned(column)
    for start in range(0, len(column), CACHED_POSTINGS):
        yield start, unsigned[start : start + CACHED_POSTINGS]


def _as_unsigned(column: Column) -> Column:
    """View a column without negative values as unsigned."""
    return column.view(f"u{column.itemsize}")


def _find_places(column: Column, runs: Sequence[Run]) -> Numbers:
    """The positions of the removed values of a column."""
    greatest = np.iinfo(_as_unsigned(column).dtype).max
    runs = [run for run in runs if run[0] <= greatest]
    places = [np.zeros(0, np.int64)]
    for begin, values in _chunks(column):
        is_removed = np.zeros(len(values), bool)
        for start, stop in runs:
            is_removed |= values - values.dtype.type(start) < stop - start  # smaller values wrap around
        places.append(np.flatnonzero(is_removed) + begin)
    return np.concatenate(places)


def _move_up(column: Column, removed: Numbers, runs: Sequence[Run]) -> Column:
    """The column without the values at the removed positions; others are reduced by the removals before."""
    remaining: Column = np.empty(len(column) - len(removed), column.dtype)
    unsigned, end = _as_unsigned(remaining), 0
    greatest = np.iinfo(unsigned.dtype).max
    runs = [run for run in runs if run[1] <= greatest]
    for begin, values in _chunks(column):
        moved = values
        for start, stop in runs:
            moved = moved - (values >= stop) * values.dtype.type(stop - start)
        first, last = np.searchsorted(removed, (begin, begin + len(values))).tolist()
        for kept_run in kept_runs(removed[first:last] - begin, len(values)):
            piece = moved[kept_run]
            unsigned[end : end + len(piece)] = piece
            end += len(piece)
    return remaining


def _to_starts(lengths: Column) -> Column:
    return narrow(np.concatenate([[0], np.cumsum(lengths)]))
