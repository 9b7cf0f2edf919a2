"""Counts and orders by values of documents: facets, sentences per day, and sentences by date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from esr.errors import unknown
from esr.folder.format.files import Mask, Numbers
from esr.folder.format.segment import LANGUAGE, NO_DATE, Segment
from esr.folder.search.cache import SearchCache
from esr.folder.search.candidates import mask_allowed, select_candidates
from esr.folder.search.conditions import mask_documents, mask_entities
from esr.folder.search.name_table import NameTable, count_values
from esr.index.filters import (
    DAY,
    FACET_FIELDS,
    DayCounts,
    FacetCounts,
    Filters,
    NameUnit,
    attribute_names,
    can_be_counted,
)
from esr.index.names import ENTITY_TYPES
from esr.plans.plan import Condition, Plan

DocumentCounts = Sequence[tuple[Segment, Numbers]]
"""For each segment, the number of candidates in each document."""


def count_facets(
    cache: SearchCache, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
) -> dict[str, FacetCounts]:
    """Count the most frequent values of each field under its filters.

    Fields with the same filters share one pass over the candidates.
    """
    for field in filters_by_field:
        if not can_be_counted(field):
            raise unknown("facet", field, FACET_FIELDS)
    segments = cache.snapshot.segments
    counts: dict[str, FacetCounts] = {}
    for filters in dict.fromkeys(filters_by_field.values()):
        candidates = select_candidates(plan, cache, filters)
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
    values, names = cache.values(field), attribute_names(cache, field)
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


def count_names(
    cache: SearchCache,
    condition: Condition | None,
    filters: Filters,
    size: int,
    unit: NameUnit,
    prefix: str,
    keys: Collection[str] | None,
) -> dict[str, int]:
    """The most frequent names by key, with the number of sentences or documents that mention each."""
    if unit == "documents":
        masks = [_mask_mentioning(segment, filters) for segment in cache.snapshot.segments]
        counts = cache.names.count_documents(cache.snapshot.segments, masks)
    else:
        allowed = mask_allowed(condition, cache, filters)
        sentences = [
            np.arange(segment.sentence_count) if mask is None else np.flatnonzero(mask)
            for segment, mask in allowed
        ]
        counts = cache.names.count_sentences(sentences)
    return cache.names.counted(counts, prefix, keys, size)


def _mask_mentioning(segment: Segment, filters: Filters) -> Mask | None:
    """Mask of the documents that satisfy the filters, with the entities anywhere in them."""
    mask = mask_documents(segment, filters)
    if not filters.entities:
        return mask
    documents = segment.column("document")[mask_entities(segment, filters.entities)]
    mentioning = np.zeros(segment.document_count, bool)
    mentioning[documents] = True
    return mentioning if mask is None else mentioning & mask


def count_days(condition: Condition | None, cache: SearchCache, filters: Filters) -> DayCounts:
    """Count the sentences of each day that satisfy the condition and the filters.

    Undated ones are left out.
    """
    counts: Counter[int] = Counter()
    for segment, mask in mask_allowed(condition, cache, filters):
        document = segment.column("document")
        numbers = document if mask is None else document[mask]
        by_document = np.bincount(numbers, minlength=segment.document_count)
        date = segment.column("date")
        dated = np.flatnonzero((date != NO_DATE) & (by_document > 0))
        days, place = np.unique(date[dated] // DAY, return_inverse=True)
        of_days = np.bincount(place, by_document[dated], len(days)).astype(int)
        counts.update(dict(zip(days.tolist(), of_days.tolist(), strict=True)))
    return counts


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
    if k < total:  # those after the k-th need no order
        chosen = np.flatnonzero(keys <= np.partition(keys, k - 1)[k - 1])
        all_ordinals, keys = all_ordinals[chosen], keys[chosen]
    return all_ordinals[np.argsort(keys, kind="stable")][:k], total


def _sort_keys(dates: npt.NDArray[np.int64], oldest_first: bool) -> npt.NDArray[np.int64]:
    """Keys to sort by in ascending order. NO_DATE becomes the greatest key."""
    last = np.iinfo(np.int64).max
    return np.where(dates == NO_DATE, last, dates if oldest_first else -dates)
