"""What terms add at most in each document (impacts), kept in memory once a query has asked for them.

An impact (`Bound.upper_bounds`) depends on the transform, the term and its background, and on nothing else of
the query. So the bounds of a query are one addition for each document of each term. Impacts are rounded up to
32 bits. Those of all terms of a transform follow one another in one array, and what is filled never changes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple
from weakref import WeakMethod

import numpy as np

from esr.engines.embedded.search.impact_computation import ImpactComputation, Values
from esr.engines.embedded.search.kernel.layout import Transform
from esr.engines.embedded.search.kernel_tables import KernelTables
from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.plans.plan import Mixture, PlanTerm, Saturation
from esr.plans.rounding import round_outward

_Key = tuple[str, float, bool, bool]
"""A term, its p(t|C), whether it is the query's own, whether its weight is below 0."""
LIMIT_SHARE = 0.5
"""Of the memory of searches, what the impacts of a transform may take."""


class TermImpacts(NamedTuple):
    """The impacts of a plan's terms: one array, and where each term's begin. A term has one for each of its
    documents, by segment, in the order of the postings. `greatest` is the greatest of weight times impact."""

    values: Values
    starts: list[int]
    greatest: float


class Impacts:
    """The impacts of one transform in one commit. Threads share it."""

    def __init__(
        self,
        computation: ImpactComputation,
        limit: float,
        note_size: Callable[[int], None] = lambda size: None,
    ) -> None:
        """`limit`: bytes that they may take. `note_size` is called with their bytes when these grow."""
        self.bound = computation.bound
        self._computation = computation
        self._limit = limit
        self._note_size = note_size
        self._kernel_transform: tuple[Any, ...] | None = None
        self._values: Values = np.zeros(0, np.float32)
        self._used = 0
        self._entries: dict[_Key, tuple[int, float]] = {}
        """Where the impacts of a term begin, and the greatest of them."""
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        transform = self._kernel_transform
        return self._values.nbytes + (0 if transform is None else 2 * Transform(*transform).high.nbytes)

    def kernel_transform(self) -> tuple[Any, ...]:
        """The transform as the kernel takes it: `layout.Transform` as a plain tuple."""
        if self._kernel_transform is None:
            table = self._computation.statistics.document_table
            high, low = self.bound.log_collection_range(table.shortest, table.longest)
            self._kernel_transform = tuple(
                Transform(
                    *self._computation.transform_numbers,
                    self.bound.length_table(),
                    round_outward(high, up=True),
                    round_outward(low, up=False),
                )
            )
            self._note_size(self.nbytes)
        return self._kernel_transform

    def get(self, terms: Sequence[PlanTerm]) -> TermImpacts:
        """The impacts of these terms. Those that are missing are computed."""
        keys = [(term, background, own, weight < 0) for term, weight, background, own in terms]
        with self._lock:
            entries = list(map(self._entries.get, keys))
            if None in entries:
                self._add(dict(zip(keys, terms, strict=True)))
                entries = list(map(self._entries.get, keys))
            values = self._values
        starts, greatest = [], 0.0
        for term, entry in zip(terms, entries, strict=True):
            assert entry is not None
            starts.append(entry[0])
            greatest = max(greatest, abs(term.weight) * entry[1])
        return TermImpacts(values, starts, greatest)

    def _add(self, terms: Mapping[_Key, PlanTerm]) -> None:
        """Keep the impacts of these terms. Where there is no room for more, all others go."""
        fresh = {key: term for key, term in terms.items() if key not in self._entries}
        sizes = self._sizes(fresh)
        if (self._used + sum(sizes)) * self._values.itemsize > self._limit:
            self._entries, self._used, self._values = {}, 0, np.zeros(0, np.float32)
            fresh, sizes = dict(terms), self._sizes(terms)
        end = self._used + sum(sizes)
        self._grow(end)
        greatest = self._computation.compute([*fresh.values()], sizes, self._values[self._used : end])
        starts = accumulate(sizes, initial=self._used)
        self._entries |= zip(fresh, zip(starts, greatest, strict=False), strict=True)
        self._used = end
        self._note_size(self.nbytes)

    def _sizes(self, terms: Mapping[_Key, PlanTerm]) -> list[int]:
        """How many documents each term has."""
        return [self._computation.statistics.find(term.term).statistics.df for term in terms.values()]

    def _grow(self, end: int) -> None:
        """Make room up to this place. Searches that are running keep the array that they have."""
        if end > len(self._values):
            most = int(self._limit) // self._values.itemsize
            grown = np.empty(max(min(max(2 * len(self._values), 1 << 16), most), end), np.float32)
            grown[: self._used] = self._values[: self._used]
            self._values = grown


class ImpactCache:
    """The impacts of the transforms that searches of a commit asked for. Threads share it."""

    def __init__(
        self,
        statistics: CommitStatistics,
        memory: SearchMemory,
        tables: Callable[[], KernelTables] | None = None,
    ) -> None:
        """`tables`: those of the kernel, which are made when it is first used."""
        self._statistics = statistics
        self._memory = memory
        self._tables = tables

    def get(self, transform: Mixture | Saturation) -> Impacts:
        """The impacts of a transform."""
        return self._memory.get(transform, partial(self._make, transform))

    def _make(self, transform: Mixture | Saturation) -> Impacts:
        computation = ImpactComputation(transform, self._statistics, self._tables)
        # Weak: the memory has the impacts, and would have itself.
        resize = WeakMethod(self._memory.resize)

        def note_size(size: int) -> None:
            if (note := resize()) is not None:
                note(transform, size)

        return Impacts(computation, LIMIT_SHARE * self._memory.limit, note_size)
