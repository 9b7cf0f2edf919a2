"""Hits that are known by their places: their ids are read when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import repeat
from typing import overload

from esr.engines.embedded.search.asked import Best, Numbers
from esr.engines.index import Hit


class Found(Sequence[Hit]):
    """The hits of an answer without records. Equal to the same hits in a list.

    `names` gives the ids of sentences by their place in the collection.
    """

    __hash__ = None  # type: ignore[assignment]  # as lists have none

    def __init__(self, best: Best, names: Callable[[Numbers], list[str]]) -> None:
        self._best = best
        self._names = names

    @cached_property
    def _hits(self) -> list[Hit]:
        best = self._best
        scores, ordinals = best.scores.tolist(), best.numbers.tolist()
        return list(map(Hit, self._names(best.numbers), scores, repeat(None), ordinals))

    def __len__(self) -> int:
        return len(self._best.numbers)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...
    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        return self._hits[place]

    def __eq__(self, other: object) -> bool:
        return self._hits == (other._hits if isinstance(other, Found) else other)

    def __repr__(self) -> str:
        return repr(self._hits)
