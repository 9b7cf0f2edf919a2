"""Counts of words and terms in all sentences, or in those that satisfy a condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.folder.format.segment import NO_DATE, POSTINGS, unpack
from esr.folder.format.words import WordTable, decode
from esr.folder.search.cache import SearchCache
from esr.folder.search.candidates import mask_allowed
from esr.folder.search.words import PositionCache
from esr.index.contract import LengthGroups
from esr.index.filters import DAY, Filters
from esr.plans.condition import Condition

Counts = npt.NDArray[np.int64]
_DECODED = 1 << 20
"""Positions that are decoded at once."""


def count_words(words: Sequence[str], cache: SearchCache) -> dict[str, int]:
    """Count the occurrences of written words in sentences."""
    counts = dict.fromkeys(words, 0)
    for segment in cache.snapshot.segments:
        count = partial(_count_in_sentences, segment.words, cache.positions)
        of_sentences = cache.memory.get((segment.words, "counts"), count)
        numbers = [(word, number) for word in words if (number := segment.words.find(word)) is not None]
        for word, number in numbers:
            counts[word] += int(of_sentences[number])
    return counts


def _count_in_sentences(table: WordTable, positions: PositionCache) -> Counts:
    """The occurrences of each word in sentences, without those in titles, of shape (words,)."""
    located = positions.of(table)
    end, counts = located.sentence_starts[-1], np.zeros(len(table), np.int64)
    for words in _batches(table):
        for lists in located.encoded_positions(words):
            numbers, lengths = located.words_of(lists), lists.lengths
            starts = np.cumsum(lengths) - lengths
            counts[numbers] = np.add.reduceat(decode(lists) < end, starts, dtype=np.int64)
    return counts


def _batches(table: WordTable) -> Iterator[range]:
    """Ranges of words with few enough positions to decode them at once."""
    ends = np.cumsum(table.counts, dtype=np.int64)
    first = 0
    while first < len(table):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _DECODED)), first + 1)
        yield range(first, min(last, len(table)))
        first = last


def count_terms(condition: Condition, cache: SearchCache, filters: Filters) -> Mapping[str, int]:
    """Count the occurrences of each term in the sentences that satisfy the condition and the filters."""
    total: Counter[str] = Counter()
    for segment, mask in mask_allowed(condition, cache, filters):
        assert mask is not None  # since there is a condition
        if not len(segment.terms) or not mask.any():
            continue
        sentences, counts = unpack(segment.column(POSTINGS), segment.count_bits)
        starts = segment.column("sentence_starts").astype(np.int64)
        sums = np.concatenate([[0], np.cumsum(np.where(mask[sentences], counts, 0), dtype=np.int64)])
        of_terms = np.diff(sums[starts])
        numbers = np.flatnonzero(of_terms)
        names = segment.terms.get_many(numbers)
        total.update(dict(zip(names, of_terms[numbers].tolist(), strict=True)))
    return total


def sum_lengths(by: LengthGroups, cache: SearchCache, filters: Filters) -> Mapping[Any, int]:
    """Sum the terms of the sentences that pass the filters by day or by source."""
    total: Counter[Any] = Counter()
    for segment, mask in mask_allowed(None, cache, filters):
        lengths = segment.column("length").astype(np.int64)
        lengths = lengths if mask is None else np.where(mask, lengths, 0)
        count = segment.document_count
        of_documents = np.bincount(segment.column("document"), lengths, count).astype(np.int64)
        if by == "source":
            sums = np.bincount(segment.column("source"), of_documents, len(segment.sources)).astype(np.int64)
            named = zip(segment.sources, sums.tolist(), strict=True)
            total.update({source: n for source, n in named if source is not None and n})
        else:
            date = segment.column("date")
            dated = np.flatnonzero((date != NO_DATE) & (of_documents > 0))
            days, place = np.unique(date[dated] // DAY, return_inverse=True)
            sums = np.bincount(place, of_documents[dated], len(days)).astype(np.int64)
            total.update(dict(zip(days.tolist(), sums.tolist(), strict=True)))
    return total
