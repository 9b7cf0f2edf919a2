"""Splits a stream into lists. (itertools.batched requires Python 3.12.)"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items; the last may be shorter."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch
