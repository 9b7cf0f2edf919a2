"""Counts the sentences that satisfy conditions. The kernel counts conditions on terms, which every query has.

Without the kernel, `count_masked` counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.folder.kernel.layout import Scratch
from esr.folder.search.cache import SearchCache
from esr.folder.search.candidates import count_masked, mask_allowed
from esr.index.filters import Filters
from esr.plans.condition import AllOf, AnyOf, Condition, HasTerm, HasWords

Bits = npt.NDArray[np.uint64]
_NO_BITS = np.zeros(0, np.uint64)
_TermCondition = tuple[tuple[str, ...], bool, tuple[Condition, ...]]
"""A condition on terms: the terms, whether a sentence needs all or any of them, and further conditions."""


def count_sentences(
    kernel: Any, conditions: Sequence[Condition], cache: SearchCache, filters: Filters
) -> list[int]:
    """Count the sentences that satisfy each condition and the filters."""
    counter = _Counter(kernel, cache, filters)
    return list(map(counter.count, conditions))


def _read_terms(condition: Condition) -> _TermCondition | None:
    """Convert a condition to one on terms, None if it is something else."""
    match condition:
        case HasTerm(term):
            return (term,), True, ()
        case AnyOf(parts) if all(isinstance(part, HasTerm) for part in parts):
            return _terms_of(parts), False, ()
        case AllOf((AnyOf(parts), *others)) if all(isinstance(part, HasTerm) for part in parts):
            if not any(isinstance(other, HasTerm) for other in others):
                return _terms_of(parts), False, tuple(others)
    if not isinstance(condition, AllOf):
        return None
    terms = _terms_of(condition.conditions)
    others = [part for part in condition.conditions if not isinstance(part, HasTerm)]
    return (terms, True, tuple(others)) if terms else None


def _terms_of(conditions: Iterable[Condition]) -> tuple[str, ...]:
    return tuple(each.term for each in conditions if isinstance(each, HasTerm))


class _Counter:
    """Counts sentences under the same filters."""

    def __init__(self, kernel: Any, cache: SearchCache, filters: Filters) -> None:
        self._kernel = kernel
        self._cache = cache
        self._filters = filters
        self._bits: dict[tuple[Condition, ...], Bits] = {}

    def count(self, condition: Condition) -> int:
        """Count the sentences that satisfy the condition and the filters."""
        match condition:
            case HasWords((word,), "sentence") if not self._filters:
                return self._cache.word_usage.count_sentences(word)
        of_terms = _read_terms(condition)
        if of_terms is None:
            return count_masked(condition, self._cache, self._filters)
        return self._count_terms(*of_terms)

    def _count_terms(self, terms: Sequence[str], needs_all: bool, others: tuple[Condition, ...]) -> int:
        statistics = self._cache.snapshot.statistics
        if not statistics.sentence_bases[-1]:
            return 0
        if others or self._filters:
            return self._count_postings(terms, needs_all, self._find_allowed(others))
        if len(terms) == 1:
            return statistics.find(terms[0]).statistics.sf
        # Each page of an answer repeats the count.
        make = partial(self._count_postings, terms, needs_all, _NO_BITS)
        return self._cache.memory.get(("count", needs_all, frozenset(terms)), make, _no_size)

    def _count_postings(self, terms: Sequence[str], needs_all: bool, allowed: Bits) -> int:
        """Count the allowed sentences with the terms."""
        statistics = self._cache.snapshot.statistics
        entries = sorted(map(statistics.find, terms), key=lambda entry: entry.statistics.sf)  # rarest first
        if needs_all and not entries[0].statistics.sf:
            return 0
        ranges = np.array([entry.posting_ranges for entry in entries], np.int64).reshape(-1)
        tables = self._cache.kernel_tables
        if needs_all:
            return int(self._kernel.count_all(ranges, tables.commit.segments, allowed))
        scratch = tables.take_scratch()
        count = self._kernel.count_any(ranges, tables.commit.segments, allowed, Scratch(*scratch).marks)
        tables.put_back(scratch)
        return int(count)

    def _find_allowed(self, conditions: tuple[Condition, ...]) -> Bits:
        """Bit set of the sentences that satisfy the conditions and filters, empty if there are neither."""
        if not conditions and not self._filters:
            return _NO_BITS
        bits = self._bits.get(conditions)
        if bits is None:
            masks = [self._cache.conditions.masks(condition) for condition in conditions]
            if self._filters:
                of_filters = (mask for _, mask in mask_allowed(None, self._cache, self._filters))
                masks.append([mask for mask in of_filters if mask is not None])
            mask = reduce(np.logical_and, map(np.concatenate, masks))
            words = len(self._cache.kernel_tables.commit.begins)
            bits = self._bits[conditions] = np.zeros(words, np.uint64)
            bits.view(np.uint8)[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
        return bits


def _no_size(count: int) -> int:
    """The size of a number, which is negligible."""
    return 0
