"""Documents whose sentences were shown, unpacked for the searches after that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.store.shown_document import ShownDocument, read_shown


class DocumentKey(NamedTuple):
    """A document's segment, and its number there."""

    segment: int
    number: int


class DocumentCache:
    """The documents of some segments. Threads share it."""

    def __init__(self, segments: Sequence[Segment], memory: SearchMemory) -> None:
        self._segments = segments
        self._memory = memory

    def read(self, keys: Collection[DocumentKey]) -> Mapping[DocumentKey, ShownDocument]:
        """The documents of these keys, each of which is there once."""
        return self._memory.get_many(keys, self._unpack)

    def _unpack(self, keys: Sequence[DocumentKey]) -> list[ShownDocument]:
        return read_shown([self._segments[owner].blob_view(number) for owner, number in keys])
