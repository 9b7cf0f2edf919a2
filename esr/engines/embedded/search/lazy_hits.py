"""Hits that are known by their ordinals: their ids are read when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import repeat
from typing import overload

from esr.engines.embedded.search.top_k import Numbers, TopK
from esr.engines.index import Hit


class LazyHits(Sequence[Hit]):
    """The hits of an answer without records. Equal to the same hits in a list.

    `read_ids` gives the ids of sentences by their ordinals.
    """

    __hash__ = None  # type: ignore[assignment]  # as lists have none

    def __init__(self, best: TopK, read_ids: Callable[[Numbers], list[str]]) -> None:
        self._best = best
        self._read_ids = read_ids

    @cached_property
    def _hits(self) -> list[Hit]:
        best = self._best
        scores, ordinals = best.scores.tolist(), best.ordinals.tolist()
        return list(map(Hit, self._read_ids(best.ordinals), scores, repeat(None), ordinals))

    def __len__(self) -> int:
        return len(self._best.ordinals)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...
    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        return self._hits[place]

    def __eq__(self, other: object) -> bool:
        return self._hits == (other._hits if isinstance(other, LazyHits) else other)

    def __repr__(self) -> str:
        return repr(self._hits)
