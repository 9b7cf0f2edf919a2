"""Cases that have every pair of the values of their dimensions, instead of every combination."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, TypeVar

Case = TypeVar("Case")


def half(cases: Iterable[Case], row: int, number: int, side: int) -> list[Case]:
    """The cases of one of two places, side 0 or 1; both places together have them all.

    The cases are rows of the product of two dimensions, of even length `row`. Each place has each value of
    both; which case goes where changes with every second number.
    """
    return [case for n, case in enumerate(cases) if (n // row + n + number // 2) % 2 == side]


def check_pairs(groups: Sequence[Sequence[tuple[Any, ...]]], sizes: Sequence[int]) -> None:
    """Assert that the groups of cases together have every pair of values, and each triple of the first three.

    `sizes` has the number of values of each dimension. Each group has every pair of the first three, and
    every value of the others.
    """

    def count(cases: Sequence[tuple[Any, ...]], *dimensions: int) -> int:
        return len({tuple(repr(case[d]) for d in dimensions) for case in cases})

    every = [case for cases in groups for case in cases]
    for a, b in combinations(range(len(sizes)), 2):
        assert count(every, a, b) == sizes[a] * sizes[b], (a, b)
    assert count(every, 0, 1, 2) == sizes[0] * sizes[1] * sizes[2]
    for cases in groups:
        assert all(count(cases, a, b) == sizes[a] * sizes[b] for a, b in combinations(range(3), 2))
        assert all(count(cases, d) == sizes[d] for d in range(3, len(sizes)))
