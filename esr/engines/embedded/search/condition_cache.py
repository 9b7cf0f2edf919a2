"""What the conditions of recent searches gave: a page asks for hits, facets and counts under one
condition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from esr.engines.embedded.search.conditions import Mask, mask_condition
from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.embedded.search.word_search import PlaceCache
from esr.engines.segments.store.segment import Segment
from esr.plans.condition import Condition


class ConditionCache:
    """The masks of conditions on the segments of a snapshot. Threads share it."""

    def __init__(self, segments: Sequence[Segment], places: PlaceCache, memory: SearchMemory) -> None:
        self._segments = segments
        self._places = places
        self._memory = memory
        self._token = object()
        """Tells the masks of these segments from those of others, and keeps none of them alive."""

    def masks(self, condition: Condition) -> list[Mask]:
        """Whether each sentence satisfies the condition, by segment."""
        return self._memory.get((self._token, condition), partial(self._make, condition), _size)

    def _make(self, condition: Condition) -> list[Mask]:
        return list(map(partial(mask_condition, condition, places=self._places), self._segments))


def _size(masks: Sequence[Mask]) -> int:
    return sum(mask.nbytes for mask in masks)
