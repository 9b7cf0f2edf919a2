"""Counts of sentences by values of their documents and by conditions, and of words and terms in sentences.

Sentences are also ordered by date. The kernel counts conditions on terms, which every query has. Without it,
`count_masked` counts. The words of sentences are read from the word tables, or else from the texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Column, Mask, Numbers
from esr.folder.format.segment import LANGUAGE, NO_DATE, POSTINGS, Segment, unpack
from esr.folder.format.words import WordPositions, WordTable, decode
from esr.folder.kernel.layout import Scratch
from esr.folder.search.cache import SearchCache
from esr.folder.search.candidates import count_masked, mask_allowed, mask_live
from esr.folder.search.conditions import find_live, mask_documents, mask_entities
from esr.folder.search.field_values import count_values
from esr.folder.search.name_table import NameTable
from esr.folder.search.records import (
    Locations,
    group_by_segment,
    locate,
    read_column,
    sentence_ids,
)
from esr.folder.search.word_positions import PositionCache
from esr.index import questions
from esr.index.filters import Filters, attribute_names, check_facets
from esr.index.hits import Histogram, SentenceTexts, SentenceWords
from esr.index.names import ENTITY_TYPES, name_key
from esr.index.questions import ByName, DayCounts, FacetCounts, Grouping, LengthGroups
from esr.plans.plan import AllOf, AnyOf, Condition, HasTerm, HasWords
from esr.text.dates import DAY

DocumentCounts = Sequence[tuple[Segment, Numbers]]
"""For each segment, the number of candidates in each document."""


def count_groups(cache: SearchCache, by: Grouping[Any], condition: Condition | None, filters: Filters) -> Any:
    """The answer of `Index.count` for a condition by groups other than fields."""
    match by:
        case questions.ByDay():
            return count_days(condition, cache, filters)
        case questions.ByDocument(ids):
            return _count_documents(cache, ids, condition, filters)
        case questions.ByName():
            return _count_names(cache, by, condition, filters)
        case questions.ByReuse():
            return cache.copies.count_taken([mask for _, mask in mask_allowed(condition, cache, filters)])
        case questions.ByTerm():
            return count_terms(condition, cache, filters)
        case questions.TermsBy(group):
            return sum_lengths(group, cache, filters, condition)
        case questions.ByValue(column):
            return _count_values_of(cache, column, condition, filters)
    raise TypeError(f"count: {by}")


def _count_documents(
    cache: SearchCache, ids: Sequence[str] | None, condition: Condition | None, filters: Filters
) -> questions.DocumentCounts:
    """The number of documents with a sentence that satisfies these, and its number of sentences for ids."""
    total, sentences = 0, dict[str, int]()
    for segment, numbers in zip(cache.snapshot.segments, _select(condition, cache, filters), strict=True):
        counts = np.bincount(segment.column("document")[numbers], minlength=segment.document_count)
        total += int(np.count_nonzero(counts))
        if ids is None:
            matching = np.flatnonzero(counts)
            sentences |= zip(segment.document_ids.get_many(matching), counts[matching].tolist(), strict=True)
        for id in ids or ():
            number = segment.document_ids.find(id)
            if number is not None and counts[number]:
                sentences[id] = int(counts[number])
    return questions.DocumentCounts(total, sentences)


def _count_values_of(
    cache: SearchCache, column: str, condition: Condition | None, filters: Filters
) -> Histogram:
    """The distribution of a column over the sentences that satisfy the condition and the filters."""
    parts = [np.zeros(0)]
    for (segment, mask), importance in zip(
        mask_allowed(condition, cache, filters), cache.snapshot.statistics.importance, strict=True
    ):
        numbers = np.arange(segment.sentence_count) if mask is None else np.flatnonzero(mask)
        parts.append(read_column(column, segment, importance, numbers))
    values = np.concatenate(parts)
    return Histogram(*np.unique_counts(values[~np.isnan(values)]))


def count_facets(
    cache: SearchCache, condition: Condition | None, filters_by_field: Mapping[str, Filters], size: int
) -> dict[str, FacetCounts]:
    """Count the most frequent values of each field under its filters.

    Fields with the same filters share one pass over the sentences.
    """
    check_facets(filters_by_field)
    segments = cache.snapshot.segments
    counts: dict[str, FacetCounts] = {}
    for filters in dict.fromkeys(filters_by_field.values()):
        candidates = _select(condition, cache, filters)
        fields = [field for field in filters_by_field if filters_by_field[field] == filters]
        if by_document := [field for field in fields if field not in ENTITY_TYPES]:
            documents = [
                (segment, np.bincount(segment.column("document")[numbers], minlength=segment.document_count))
                for segment, numbers in zip(segments, candidates, strict=True)
            ]
            for field in by_document:
                if field == "month":
                    counted = _count_months(documents)
                elif field == "language":
                    counted = _count_languages(documents)
                else:
                    counted = _count_values(cache, field, documents)
                # Ties are by name.
                counts[field] = sorted(counted, key=lambda value: (-value[1], value[0]))[:size]
        if types := [field for field in fields if field in ENTITY_TYPES]:
            of_names = cache.names.count_sentences(candidates)
            counts |= {type: _top_names(cache.names, of_names, type, size) for type in types}
    return {field: counts[field] for field in filters_by_field}


def _count_values(cache: SearchCache, field: str, documents: DocumentCounts) -> Iterable[tuple[str, int]]:
    """Count the candidates with each value of a field. Candidates without a value are not counted."""
    total: Counter[str] = Counter()
    values, names = cache.values(field), attribute_names(cache.values, field)
    for segment, candidates in documents:
        for value, count in count_values(segment, names, candidates):
            total[values.form(value)] += count
    return total.items()


def _count_languages(documents: DocumentCounts) -> Iterable[tuple[str, int]]:
    """Count candidates by language. Candidates of documents that name none are not counted."""
    total: Counter[str] = Counter()
    for segment, candidates in documents:
        counts = np.bincount(segment.column(LANGUAGE), candidates, len(segment.languages)).astype(int)
        for language, count in zip(segment.languages, counts.tolist(), strict=True):
            if language and count:
                total[language.lower()] += count
    return total.items()


def _count_months(documents: DocumentCounts) -> Iterable[tuple[str, int]]:
    """Count candidates by month in UTC. Candidates without a date are not counted."""
    total: Counter[str] = Counter()
    for segment, candidates in documents:
        date = segment.column("date")
        dated = np.flatnonzero((date != NO_DATE) & (candidates > 0))
        month = date[dated].astype("datetime64[ms]").astype("datetime64[M]")
        months, place = np.unique(month, return_inverse=True)
        by_month = np.bincount(place, candidates[dated], len(months)).astype(int)
        total.update(dict(zip(np.datetime_as_string(months).tolist(), by_month.tolist(), strict=True)))
    return total.items()


def _top_names(names: NameTable, counts: Numbers, type: str, size: int) -> FacetCounts:
    """The most frequent names of a type in their displayed forms, ties by key."""
    best = names.most_frequent(counts, names.by_type[type], size)
    return [(names.name(number).form, int(counts[number])) for number in best]


def _select(condition: Condition | None, cache: SearchCache, filters: Filters) -> list[Numbers]:
    """The numbers of the sentences that satisfy the condition and the filters, by segment, ascending."""
    return [
        np.arange(segment.sentence_count) if mask is None else np.flatnonzero(mask)
        for segment, mask in mask_allowed(condition, cache, filters)
    ]


def _count_names(
    cache: SearchCache, by: ByName, condition: Condition | None, filters: Filters
) -> dict[str, int]:
    """The most frequent names by key, with the number of sentences or of documents that mention each."""
    if by.unit == "documents":
        masks = [_mask_mentioning(segment, filters) for segment in cache.snapshot.segments]
        counts = cache.names.count_documents(cache.snapshot.segments, masks)
    else:
        counts = cache.names.count_sentences(_select(condition, cache, filters))
    return cache.names.counted(counts, name_key(by.prefix), by.keys, by.size)


def _mask_mentioning(segment: Segment, filters: Filters) -> Mask | None:
    """Mask of the documents that satisfy the filters. An entity may be anywhere in the document."""
    mask = mask_documents(segment, filters)
    if not filters.entities:
        return mask
    documents = segment.column("document")[mask_entities(segment, filters.entities)]
    mentioning = np.zeros(segment.document_count, bool)
    mentioning[documents] = True
    return mentioning if mask is None else mentioning & mask


def count_days(condition: Condition | None, cache: SearchCache, filters: Filters) -> DayCounts:
    """Count the sentences of each day that satisfy the condition and the filters.

    Undated sentences are left out.
    """
    counts: Counter[int] = Counter()
    for segment, mask in mask_live(condition, cache, filters):
        document = segment.column("document")
        numbers = document if mask is None else document[mask]
        counts.update(_sum_days(segment, np.bincount(numbers, minlength=segment.document_count)))
    return counts


def _sum_days(segment: Segment, of_documents: Numbers) -> dict[int, int]:
    """Sum numbers given per document by day, without days whose sum is 0."""
    date = segment.column("date")
    dated = np.flatnonzero((date != NO_DATE) & (of_documents > 0))
    days, place = np.unique(date[dated] // DAY, return_inverse=True)
    sums = np.bincount(place, of_documents[dated], len(days)).astype(np.int64)
    return dict(zip(days.tolist(), sums.tolist(), strict=True))


def find_by_date(
    condition: Condition, cache: SearchCache, k: int, filters: Filters, oldest_first: bool
) -> tuple[npt.NDArray[np.int64], int]:
    """Find the first k sentences by date that satisfy the condition and the filters.

    Returns their ordinals and the total number. Undated sentences come last, ties in collection order.
    """
    start, ordinals, dates = 0, [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for segment, mask in mask_allowed(condition, cache, filters):
        assert mask is not None  # since there is a condition
        numbers = np.flatnonzero(mask)
        ordinals.append(numbers + start)
        dates.append(segment.column("date")[segment.column("document")[numbers]])
        start += segment.sentence_count
    all_ordinals, keys = np.concatenate(ordinals), _sort_keys(np.concatenate(dates), oldest_first)
    total = len(keys)
    if k < total:  # sentences after the k-th need no order
        chosen = np.flatnonzero(keys <= np.partition(keys, k - 1)[k - 1])
        all_ordinals, keys = all_ordinals[chosen], keys[chosen]
    return all_ordinals[np.argsort(keys, kind="stable")][:k], total


def _sort_keys(dates: npt.NDArray[np.int64], oldest_first: bool) -> npt.NDArray[np.int64]:
    """Keys to sort by in ascending order. NO_DATE becomes the greatest key."""
    last = np.iinfo(np.int64).max
    return np.where(dates == NO_DATE, last, dates if oldest_first else -dates)


# Conditions

Bits = npt.NDArray[np.uint64]
_NO_BITS = np.zeros(0, np.uint64)
_TermCondition = tuple[tuple[str, ...], bool, tuple[Condition, ...]]
"""A condition on terms: the terms, whether a sentence needs all or any of them, and further conditions."""


def count_sentences(
    kernel: Any, conditions: Sequence[Condition | None], cache: SearchCache, filters: Filters
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
    return tuple(condition.term for condition in conditions if isinstance(condition, HasTerm))


class _Counter:
    """Counts sentences under the same filters."""

    def __init__(self, kernel: Any, cache: SearchCache, filters: Filters) -> None:
        self._kernel = kernel
        self._cache = cache
        self._filters = filters
        self._bits: dict[tuple[Condition, ...], Bits] = {}

    def count(self, condition: Condition | None) -> int:
        """Count the sentences that satisfy the condition and the filters."""
        if condition is None:
            return count_masked(None, self._cache, self._filters)
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
        segments = self._cache.snapshot.segments
        if others or self._filters:
            live = find_live(self._cache.snapshot, self._filters, AllOf(others))
            return self._count_postings(terms, needs_all, live, self._find_allowed(others, live))
        if len(terms) == 1:
            return statistics.find(terms[0]).statistics.sf
        # Each page of an answer repeats the count.
        make = partial(self._count_postings, terms, needs_all, range(len(segments)), _NO_BITS)
        return self._cache.memory.get(("count", needs_all, frozenset(terms)), make, lambda count: 0)

    def _count_postings(self, terms: Sequence[str], needs_all: bool, live: range, allowed: Bits) -> int:
        """Count the allowed sentences with the terms. Only the segments `live` have any."""
        statistics = self._cache.snapshot.statistics.within(live)
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

    def _find_allowed(self, conditions: tuple[Condition, ...], live: range) -> Bits:
        """Bit set of the sentences that satisfy the conditions and filters, empty if there are neither."""
        if not conditions and not self._filters:
            return _NO_BITS
        bits = self._bits.get(conditions)
        if bits is None:
            masks = [self._cache.conditions.masks(condition, live) for condition in conditions]
            if self._filters:
                of_filters = (mask for _, mask in mask_allowed(None, self._cache, self._filters))
                masks.append([mask for mask in of_filters if mask is not None])
            mask = reduce(np.logical_and, map(np.concatenate, masks))
            words = len(self._cache.kernel_tables.commit.begins)
            bits = self._bits[conditions] = np.zeros(words, np.uint64)
            bits.view(np.uint8)[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
        return bits


# Words and terms

Counts = npt.NDArray[np.int64]
_DECODED = 1 << 20
"""Number of positions decoded at once."""


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
    """Yield ranges of words with few enough positions to decode at once."""
    ends = np.cumsum(table.counts, dtype=np.int64)
    first = 0
    while first < len(table):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _DECODED)), first + 1)
        yield range(first, min(last, len(table)))
        first = last


def count_terms(condition: Condition | None, cache: SearchCache, filters: Filters) -> Mapping[str, int]:
    """Count the occurrences of each term in the sentences that satisfy the condition and the filters."""
    total: Counter[str] = Counter()
    for segment, allowed in mask_live(condition, cache, filters):
        mask = np.ones(segment.sentence_count, bool) if allowed is None else allowed
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


def sum_lengths(
    by: LengthGroups, cache: SearchCache, filters: Filters, condition: Condition | None
) -> Mapping[Any, int]:
    """Sum the lengths of the sentences that satisfy a condition and the filters, by day or by source."""
    total: Counter[Any] = Counter()
    for segment, mask in mask_live(condition, cache, filters):
        lengths = segment.column("length").astype(np.int64)
        lengths = lengths if mask is None else np.where(mask, lengths, 0)
        count = segment.document_count
        of_documents = np.bincount(segment.column("document"), lengths, count).astype(np.int64)
        if by == "source":
            total.update(dict(count_values(segment, ["source"], of_documents)))
        else:
            total.update(_sum_days(segment, of_documents))
    return total


WORDS_PER_TEXT = 4_000
"""Reading a text takes about as long as finding the positions of this many words."""
_SHARE = 4
"""The positions of all words may take 1 / _SHARE of the memory for searches."""


def read_texts(cache: SearchCache, ordinals: Numbers, total: int) -> SentenceTexts:
    """The sentences with these ordinals, in this order, of `total` that match."""
    segments, locations = cache.snapshot.segments, locate(cache.snapshot, ordinals)
    documents, positions = np.empty((2, len(ordinals)), np.int64)
    days, sources = np.full((2, len(ordinals)), None, object)
    for owner, places, numbers in group_by_segment(locations):
        segment = segments[owner]
        documents[places] = of_segment = segment.column("document")[numbers]
        positions[places] = numbers - segment.column("first")[of_segment]
        date = segment.column("date")[of_segment]
        days[places] = np.where(date == NO_DATE, None, date // DAY)
        sources[places] = np.array([*segment.sources, None], object)[segment.column("source")[of_segment]]

    def read() -> Sequence[str]:
        keys = list(zip(locations.segments.tolist(), documents.tolist(), strict=True))
        shown = cache.documents.read(dict.fromkeys(keys))
        return [shown[key].sentences[n].text for key, n in zip(keys, positions.tolist(), strict=True)]

    return SentenceTexts(
        lambda n: sentence_ids(cache.snapshot, ordinals[n]),
        read,
        days.tolist(),
        sources.tolist(),
        total,
        partial(_read_words, cache, locations),
    )


def _read_words(cache: SearchCache, locations: Locations) -> SentenceWords | None:
    """The words of these sentences; None if it is faster to read their texts."""
    segments = cache.snapshot.segments
    tables = [segment.words for segment in segments]
    size = sum(int(table.counts.sum(dtype=np.int64)) for table in tables)
    limit = cache.memory.limit // (_SHARE * np.dtype(np.int32).itemsize)
    if size > min(limit, WORDS_PER_TEXT * len(locations.numbers)):
        return None
    spans = [cache.positions.of(table).sentence_starts for table in tables]
    lengths = np.empty(len(locations.numbers), np.int64)
    for owner, places, numbers in group_by_segment(locations):
        lengths[places] = spans[owner][numbers + 1] - spans[owner][numbers] - 1  # less the skipped one
    starts = np.concatenate([[0], np.cumsum(lengths)])
    words = np.empty(starts[-1], np.int64)
    vocabulary = _TableWords(tables)
    for owner, places, numbers in group_by_segment(locations):
        find = partial(_words_by_position, tables[owner], cache.positions.of(tables[owner]))
        by_position = cache.memory.get((tables[owner], "by position"), find)
        sizes = lengths[places]
        before, steps = np.cumsum(sizes) - sizes, np.arange(sizes.sum())
        word_numbers = by_position[np.repeat(spans[owner][numbers] - before, sizes) + steps]
        words[np.repeat(starts[places] - before, sizes) + steps] = word_numbers + vocabulary.firsts[owner]
    return SentenceWords(vocabulary, words, starts)


def _words_by_position(table: WordTable, positions: WordPositions) -> Column:
    """The number of the word at each position of a segment, -1 where there is none."""
    end = positions.sentence_starts[-1]
    by_place = np.full(end, -1, np.int32)
    for words in _batches(table):
        for lists in positions.encoded_positions(words):
            numbers, at = positions.words_of(lists), decode(lists)
            in_sentences = at < end  # the others are in titles
            by_place[at[in_sentences]] = np.repeat(numbers, lists.lengths)[in_sentences]
    return by_place


class _TableWords:
    """Numbers of the words of several tables, one table after another."""

    def __init__(self, tables: Sequence[WordTable]) -> None:
        self._tables = tables
        self.firsts = np.cumsum([0, *map(len, tables)])
        """The first number of each table, then the end."""

    def match(self, numbers: Numbers, word: str, is_prefix: bool) -> Mask:
        mask = np.zeros(len(numbers), bool)
        for table, first in zip(self._tables, self.firsts.tolist(), strict=False):
            if is_prefix:
                numbers_in_range = table.prefix_range(word)
            else:
                number = table.find(word)
                numbers_in_range = range(0) if number is None else range(number, number + 1)
            mask |= (numbers >= first + numbers_in_range.start) & (numbers < first + numbers_in_range.stop)
        return mask

    def names(self, numbers: Numbers) -> list[str]:
        owners = np.searchsorted(self.firsts, numbers, "right") - 1
        names = [""] * len(numbers)
        for owner, table in enumerate(self._tables):
            places = np.flatnonzero(owners == owner)
            for place, word in zip(
                places.tolist(), table.words(numbers[places] - self.firsts[owner]), strict=True
            ):
                names[place] = word
        return names
