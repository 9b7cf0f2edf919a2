"""The segments of a commit as the kernel takes them."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from esr.engines.embedded.search.kernel.layout import FIRST_DOCUMENT, Commit, Scratch
from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.store.packed_postings import POSTINGS
from esr.engines.segments.store.segment import Segment

_COLUMNS = (
    POSTINGS,
    "document_numbers",
    "document_counts",
    "length",
    "document",
)
"""In the order of `layout`."""


class KernelTables:
    """Threads share it; each search has a scratch of its own."""

    def __init__(self, statistics: CommitStatistics) -> None:
        table, bases = statistics.document_table, statistics.sentence_bases
        self._mapped = [segment.columns for segment in statistics.segments]  # keeps the addresses valid
        addresses = list(map(_addresses, statistics.segments, bases, table.document_bases.tolist()))
        documents = (table.first, table.size, table.length, table.shortest, table.longest)
        is_first = np.zeros(64 * (bases[-1] // 64 + 1), bool)
        is_first[table.first[table.size > 0]] = True
        is_first[bases[-1] :] = True  # there is nothing behind the last sentence
        self.commit = Commit(
            np.array(addresses, np.int64).reshape(-1, FIRST_DOCUMENT + 1),
            table.document_bases.astype(np.int64),
            np.stack(documents, axis=1).astype(np.int32),
            table.size.astype(np.int32),
            np.packbits(is_first, bitorder="little").view("<u8").astype(np.uint64),
        )
        self.commit_group = tuple(self.commit)
        """As the kernel takes it."""
        self._idle: deque[tuple[Any, ...]] = deque()

    def take_scratch(self) -> tuple[Any, ...]:
        """A `Scratch` for one search, as a plain tuple, until it is put back. After an error it is not put
        back."""
        try:
            return self._idle.pop()
        except IndexError:
            n = len(self.commit.sizes)
            # One place more: the kernel writes a document there before it knows whether it is new.
            documents, marks = np.empty(n + 1, np.int32), np.zeros(len(self.commit.begins), np.uint64)
            return tuple(Scratch(np.full(n, -np.inf), np.zeros(n, bool), np.empty(n), documents, marks))

    def put_back(self, scratch: tuple[Any, ...]) -> None:
        self._idle.append(scratch)


def _addresses(segment: Segment, first_sentence: int, first_document: int) -> list[int]:
    """A row of `Commit.segments`."""
    columns = [segment.column(name) for name in _COLUMNS]
    addresses = [number for column in columns for number in (column.ctypes.data, column.itemsize)]
    return [*addresses, segment.count_bits, first_sentence, first_document]
