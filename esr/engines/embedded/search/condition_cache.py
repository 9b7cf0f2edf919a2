"""What the conditions of recent searches gave: a page asks for hits, facets and counts under one
condition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from esr.engines.embedded.search.conditions import Mask, mask_condition
from esr.engines.embedded.search.word_search import PlaceCache
from esr.engines.segments.store.segment import Segment
from esr.plans.condition import Condition

_RECENT = 8
"""Conditions whose masks are kept: a byte for each sentence each."""


class ConditionCache:
    """The masks of conditions on the segments of a snapshot. Threads share it."""

    def __init__(self, segments: Sequence[Segment], places: PlaceCache) -> None:
        self._segments = segments
        self._places = places
        self._masks: dict[Condition, list[Mask]] = {}

    def masks(self, condition: Condition) -> list[Mask]:
        """Whether each sentence satisfies the condition, by segment."""
        masks = self._masks.get(condition)
        if masks is None:
            masks = list(map(partial(mask_condition, condition, places=self._places), self._segments))
            self._masks[condition] = masks
            while len(self._masks) > _RECENT:
                self._masks.pop(next(iter(self._masks)), None)  # another thread may have removed it
        return masks
