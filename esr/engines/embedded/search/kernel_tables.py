"""The segments of a commit as the kernel takes them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.layout import DOCUMENTS
from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.store.segment import Segment
from esr.plans.evidence import Array

Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

_COLUMNS = (
    "sentence_numbers",
    "sentence_counts",
    "document_numbers",
    "document_counts",
    "length",
    "document",
)
"""In the order of `layout`."""


class Scratch(NamedTuple):
    """What one search at a time writes to, of a commit's documents and sentences."""

    bounds: Array
    reached: Mask
    keys: Array
    places: npt.NDArray[np.int32]
    marks: Words


class KernelTables:
    """Laid out as `layout` says. Threads share it."""

    def __init__(self, statistics: CommitStatistics) -> None:
        table, starts = statistics.document_table, statistics.starts
        self._mapped = [segment.columns for segment in statistics.segments]  # keeps the addresses valid
        self.owners = table.owners.astype(np.int64)
        addresses = list(map(_addresses, statistics.segments, starts, self.owners))
        self.segments = np.array(addresses, np.int64).reshape(-1, DOCUMENTS + 1)
        records = (table.first, table.size, table.length, table.shortest, table.longest)
        self.records = np.stack(records, axis=1).astype(np.int32)
        self.sizes = table.size.astype(np.int32)
        begins = np.zeros(64 * (starts[-1] // 64 + 1), bool)
        begins[table.first[table.size > 0]] = True
        begins[starts[-1] :] = True  # nothing stands behind the last sentence
        self.begins: Words = np.packbits(begins, bitorder="little").view("<u8").astype(np.uint64)
        self._idle: deque[Scratch] = deque()

    def take_scratch(self) -> Scratch:
        """A scratch for one search, until it is put back. After an error it is not put back."""
        try:
            return self._idle.pop()
        except IndexError:
            n = len(self.records)
            # One place more: the kernel writes a document there before it knows whether it is new.
            places, marks = np.empty(n + 1, np.int32), np.zeros(len(self.begins), np.uint64)
            return Scratch(np.full(n, -np.inf), np.zeros(n, bool), np.empty(n), places, marks)

    def put_back(self, scratch: Scratch) -> None:
        self._idle.append(scratch)


def _addresses(segment: Segment, first_sentence: int, first_document: int) -> list[int]:
    """A row of `KernelTables.segments`."""
    columns = [segment.column(name) for name in _COLUMNS]
    addresses = [number for column in columns for number in (column.ctypes.data, column.itemsize)]
    return [*addresses, first_sentence, first_document]
