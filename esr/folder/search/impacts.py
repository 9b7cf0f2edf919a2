"""Impacts, the upper bounds of what terms add in each document, computed on demand and kept in memory.

An impact (`Bound.upper_bounds`) depends only on the transform, the term and its background, so the bounds of
a query take one addition per term and document. The kernel computes impacts in one pass over the postings;
without it numpy does, with the same results. They are rounded up to 32 bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, repeat
from typing import Any, NamedTuple
from weakref import WeakMethod

import numpy as np
import numpy.typing as npt
from msgspec.structs import astuple, replace

from esr.folder.format.postings import read_postings
from esr.folder.format.segment import POSTINGS, Segment
from esr.folder.format.snapshot import CommitStatistics
from esr.folder.kernel import layout
from esr.folder.kernel.layout import HYPERBOLA, LOGARITHM, MIXTURE, Commit, Formula, Scratch, Transform
from esr.folder.search.kernel_loader import LOADER
from esr.index.limits import SearchMemory
from esr.plans.bounds import Bound
from esr.plans.evaluate import Array, round_outward, saturate
from esr.plans.plan import Mixture, PlanTerm, Saturation
from esr.stdlib import cached_property
from esr.threads import take_turns

Values = npt.NDArray[np.float32]


class ImpactComputation:
    """Computes the impacts of one transform in one commit, without keeping them."""

    def __init__(
        self,
        transform: Mixture | Saturation,
        statistics: CommitStatistics,
        tables: Callable[[], KernelTables] | None = None,
    ) -> None:
        """Without `tables`, those of the kernel, numpy computes the impacts."""
        self.bound: Bound = Bound(transform, statistics.collection.longest_sentence)
        self._transform = transform
        self.statistics = statistics
        self._tables = tables
        self._fields = set(transform.fields())

    @cached_property
    def formula(self) -> Any:
        """The transform as an argument of the kernel: `layout.Formula` as a plain tuple."""
        transform = self._transform
        shape, mixture, saturation = (
            MIXTURE,
            np.zeros(1, layout.MIXTURE_WEIGHTS),
            np.zeros(1, layout.SATURATION_WEIGHTS),
        )
        if isinstance(transform, Mixture):
            mixture[0] = astuple(transform)
        else:
            shape = LOGARITHM if transform.k1 is None else HYPERBOLA
            saturation[0] = astuple(replace(transform, k1=transform.k1 or 0.0))
        return tuple(Formula(shape, mixture, saturation))

    def compute(self, terms: Sequence[PlanTerm], sizes: Sequence[int], impacts: Values) -> list[float]:
        """Set `impacts` to the impacts of these terms, concatenated. `sizes` are their numbers of documents.

        Returns the greatest absolute value for each term.
        """
        if LOADER.kernel is not None and self._tables is not None:
            return self._compute_by_kernel(terms, sizes, impacts, self._tables())
        greatest, start = [], 0
        for term, size in zip(terms, sizes, strict=True):
            postings = read_postings(self.statistics, term.term, self._fields)
            values = round_outward(self.bound.upper_bounds(term, *postings), up=term.weight >= 0)
            impacts[start : start + size] = values
            greatest.append(float(np.abs(values).max(initial=0.0)))
            start += size
        return greatest

    def _compute_by_kernel(
        self, terms: Sequence[PlanTerm], sizes: Sequence[int], impacts: Values, tables: KernelTables
    ) -> list[float]:
        kernel = LOADER.kernel
        table, ranges = flatten(terms, repeat(0), self.statistics)
        evidence, greatest = np.empty(len(impacts)), np.empty(len(terms))
        kernel.best_evidence(self.formula, self._evidence_table, table, ranges, tables.commit_group, evidence)
        if isinstance(self._transform, Mixture):
            values = np.log(evidence, out=evidence)
        else:
            values = saturate(self._transform, evidence)
        kernel.round_impacts(values, impacts, np.array([*accumulate(sizes)], np.int64), table, greatest)
        return list(map(float, greatest.tolist()))

    @cached_property
    def _evidence_table(self) -> Array:
        return self.bound.evidence_table()


def flatten(
    terms: Iterable[PlanTerm], first_impacts: Iterable[int], statistics: CommitStatistics
) -> tuple[Array, layout.Longs]:
    """The numbers of `layout.TERM` and `layout.RANGES`, as the kernel takes them."""
    numbers: list[float] = []
    ranges: list[int] = []
    find = statistics.find
    for term, first_impact in zip(terms, first_impacts, strict=False):
        numbers += term[1:]
        numbers.append(first_impact)
        ranges += find(term.term).posting_ranges
    return np.array(numbers, np.float64), np.array(ranges, np.int64)


_Key = tuple[str, float, bool, bool]
"""A term, its p(t|C), whether it is the query's own, and whether its weight is negative."""
LIMIT_SHARE = 0.5
"""The share of the memory for searches that the impacts of one transform may take."""


class TermImpacts(NamedTuple):
    """The impacts of a plan's terms: an array, and the index of each term's first impact.

    A term has one impact for each of its documents, in the order of its postings. `greatest` is the greatest
    absolute value of weight times impact.
    """

    values: Values
    starts: list[int]
    greatest: float


class Impacts:
    """The impacts of one transform in one commit, concatenated in one array. Filled parts never change.

    Threads share it.
    """

    def __init__(
        self,
        computation: ImpactComputation,
        limit: float,
        note_size: Callable[[int], None] = lambda size: None,
    ) -> None:
        """`limit` is the maximum size in bytes. `note_size` is called with the new size after each growth."""
        self.bound: Bound = computation.bound
        self._computation = computation
        self._limit = limit
        self._note_size = note_size
        self._kernel_transform: tuple[Any, ...] | None = None
        self.values: Values = np.zeros(0, np.float32)
        self._used = 0
        self.entries: dict[_Key, tuple[int, float]] = {}
        """For each term, the index of its first impact, and its greatest impact."""

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        transform = self._kernel_transform
        return self.values.nbytes + (0 if transform is None else 2 * Transform(*transform).high.nbytes)

    def kernel_transform(self) -> tuple[Any, ...]:
        """The transform as an argument of the kernel: `layout.Transform` as a plain tuple."""
        if self._kernel_transform is None:
            table = self._computation.statistics.document_table
            high, low = self.bound.log_collection_range(table.shortest, table.longest)
            self._kernel_transform = tuple(
                Transform(
                    self._computation.formula,
                    self.bound.length_table(),
                    round_outward(high, up=True),
                    round_outward(low, up=False),
                )
            )
            self._note_size(self.nbytes)
        return self._kernel_transform

    def get(self, terms: Sequence[PlanTerm]) -> TermImpacts:
        """The impacts of these terms. Missing ones are computed."""
        keys = [(term, background, is_own, weight < 0) for term, weight, background, is_own in terms]
        entries, values = self._find(keys, terms)
        starts, greatest = [], 0.0
        for term, entry in zip(terms, entries, strict=True):
            assert entry is not None
            starts.append(entry[0])
            greatest = max(greatest, abs(term.weight) * entry[1])
        return TermImpacts(values, starts, greatest)

    @take_turns
    def _find(
        self, keys: Sequence[_Key], terms: Sequence[PlanTerm]
    ) -> tuple[list[tuple[int, float] | None], Values]:
        """The entries of keys, and the array that they refer to. Missing ones are added."""
        entries = list(map(self.entries.get, keys))
        if None in entries:
            self._add(dict(zip(keys, terms, strict=True)))
            entries = list(map(self.entries.get, keys))
        return entries, self.values

    def _add(self, terms: Mapping[_Key, PlanTerm]) -> None:
        """Add the impacts of these terms. If there is no room, all others are dropped."""
        fresh = {key: term for key, term in terms.items() if key not in self.entries}
        sizes = self._sizes(fresh)
        if (self._used + sum(sizes)) * self.values.itemsize > self._limit:
            self.entries, self._used, self.values = {}, 0, np.zeros(0, np.float32)
            fresh, sizes = dict(terms), self._sizes(terms)
        end = self._used + sum(sizes)
        self._grow(end)
        greatest = self._computation.compute([*fresh.values()], sizes, self.values[self._used : end])
        starts = accumulate(sizes, initial=self._used)
        self.entries |= zip(fresh, zip(starts, greatest, strict=False), strict=True)
        self._used = end
        self._note_size(self.nbytes)

    def _sizes(self, terms: Mapping[_Key, PlanTerm]) -> list[int]:
        """The number of documents of each term."""
        return [self._computation.statistics.find(term.term).statistics.df for term in terms.values()]

    def _grow(self, end: int) -> None:
        """Make room up to this index. Running searches keep using the old array."""
        if end > len(self.values):
            most = int(self._limit) // self.values.itemsize
            grown = np.empty(max(min(max(2 * len(self.values), 1 << 16), most), end), np.float32)
            grown[: self._used] = self.values[: self._used]
            self.values = grown


class ImpactCache:
    """The impacts in one commit, by transform. Threads share it."""

    def __init__(
        self,
        statistics: CommitStatistics,
        memory: SearchMemory,
        tables: Callable[[], KernelTables] | None = None,
    ) -> None:
        """`tables` returns the tables of the kernel, built on first use."""
        self._statistics = statistics
        self.memory = memory
        self._tables = tables

    def get(self, transform: Mixture | Saturation, live: range | None = None) -> Impacts:
        """The impacts of a transform, in all segments or in the range `live` of them."""
        statistics = self._statistics if live is None else self._statistics.within(live)
        key = transform if statistics is self._statistics else (transform, live)
        return self.memory.get(key, partial(self._make, transform, statistics, key))

    def _make(self, transform: Mixture | Saturation, statistics: CommitStatistics, key: Any) -> Impacts:
        computation = ImpactComputation(transform, statistics, self._tables)
        # A weak reference: the memory holds the impacts, so a strong one would create a cycle.
        resize = WeakMethod(self.memory.resize)

        def note_size(size: int) -> None:
            if (note := resize()) is not None:
                note(key, size)

        return Impacts(computation, LIMIT_SHARE * self.memory.limit, note_size)


_COLUMNS = (POSTINGS, "document_numbers", "document_counts", "length", "document")
"""The columns of a segment in the order of `layout.SEGMENT`."""


class KernelTables:
    """The segments of a commit as arguments of the kernel, and buffers for searches.

    Threads share it, and each search takes its own scratch buffers.
    """

    def __init__(self, statistics: CommitStatistics) -> None:
        table, bases = statistics.document_table, statistics.sentence_bases
        self._mapped = [segment.columns for segment in statistics.segments]  # keeps the addresses valid
        segments = list(map(_describe, statistics.segments, bases, table.document_bases.tolist()))
        columns = (table.first, table.size, table.length, table.shortest, table.longest)
        documents = np.empty((len(table.size), len(columns)), np.int32)
        for number, column in enumerate(columns):
            documents[:, number] = column
        is_first, has_term = np.zeros((2, 64 * (bases[-1] // 64 + 1)), bool)
        is_first[table.first[table.size > 0]] = True
        is_first[bases[-1] :] = True  # nothing follows the last sentence
        filled_sizes = table.size.astype(np.int32)
        for segment, base, start in zip(statistics.segments, bases, table.document_bases, strict=False):
            is_filled = segment.column("length") > 0
            has_term[base : base + segment.sentence_count] = is_filled
            # Few sentences have no terms, so this is faster than a sum over all.
            empty, sizes = np.bincount(segment.column("document")[~is_filled]), filled_sizes[start:]
            sizes[: len(empty)] -= empty.astype(np.int32)
        self.commit: Commit = Commit(
            np.array(segments, layout.SEGMENT),
            table.document_bases.astype(np.int64),
            documents.view(layout.DOCUMENT).reshape(-1),
            table.size.astype(np.int32),
            filled_sizes,
            *(
                np.packbits(mask, bitorder="little").view("<u8").astype(np.uint64)
                for mask in (is_first, has_term)
            ),
        )
        self.commit_group: tuple[Any, ...] = tuple(self.commit)
        """The commit as a plain tuple, as the kernel takes it."""
        self._idle: deque[tuple[Any, ...]] = deque()

    def take_scratch(self) -> tuple[Any, ...]:
        """Take a `Scratch` as a plain tuple, for one search. After an error it must not be put back."""
        try:
            return self._idle.pop()
        except IndexError:
            n = len(self.commit.sizes)
            # One more: the kernel writes a document's number before it checks whether it is new.
            documents, marks = np.empty(n + 1, np.int32), np.zeros(len(self.commit.begins), np.uint64)
            bounds = np.full(n, layout.UNREACHED)
            return tuple(Scratch(bounds, np.zeros(n, bool), np.empty(n), documents, marks))

    def put_back(self, scratch: tuple[Any, ...]) -> None:
        self._idle.append(scratch)


def _describe(segment: Segment, first_sentence: int, first_document: int) -> tuple[Any, ...]:
    """Build a record of `Commit.segments`."""
    columns = [segment.column(name) for name in _COLUMNS]
    addresses = ((column.ctypes.data, column.itemsize) for column in columns)
    return *addresses, segment.count_bits, first_sentence, first_document
