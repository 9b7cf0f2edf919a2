"""Masks of documents and sentences that satisfy filters or a condition (`esr.plans.plan`).

Masks of conditions are kept in memory, since a page asks for hits, facets and counts under the same
condition. Filters and conditions must have been resolved to the forms in the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Mask
from esr.folder.format.segment import LANGUAGE, NO_DATE, Segment
from esr.folder.format.snapshot import Snapshot
from esr.folder.search.word_positions import PositionCache, Positions, find_phrase, find_prefix, mask_prefix
from esr.index.filters import Filters
from esr.index.limits import SearchMemory
from esr.index.names import name_key
from esr.plans import plan


def mask_documents(segment: Segment, filters: Filters) -> Mask | None:
    """Mask of the documents that satisfy the filters on documents, None without filters."""
    if not filters:
        return None
    if not segment.may_hold(filters.date_from, filters.date_to):
        return np.zeros(segment.document_count, bool)
    mask = np.ones(segment.document_count, bool)
    if filters.date_from is not None or filters.date_to is not None:
        mask &= mask_dates(segment, filters.date_from, filters.date_to)
    if filters.sources:
        mask &= mask_sources(segment, filters.sources)
    for wanted in filters.attributes:
        mask &= mask_attribute(segment, wanted)
    if filters.documents:
        numbers = [n for n in map(segment.document_ids.find, filters.documents) if n is not None]
        listed = np.zeros(len(mask), bool)
        listed[numbers] = True
        mask &= listed
    return mask


def find_live(snapshot: Snapshot, filters: Filters, condition: plan.Condition | None = None) -> range:
    """The segments that may have documents with the dates of the filters and of the condition.

    They are neighbours, since the segments of a divided index are ordered by time. The others are not read.
    """
    everything = range(len(snapshot.segments))
    limits = snapshot.period_limits
    if limits is None:
        return everything
    is_live = np.ones(len(everything), bool)
    for start, end in ((filters.date_from, filters.date_to), *_required_dates(condition)):
        if start is not None or end is not None:
            is_live &= limits[0] <= limits[1]  # the undated have no date
        if start is not None:
            is_live &= limits[1] >= start
        if end is not None:
            is_live &= limits[0] <= end
    live = np.flatnonzero(is_live).tolist()
    return range(live[0], live[-1] + 1) if live else range(0)


def _required_dates(condition: plan.Condition | None) -> Iterator[tuple[int | None, int | None]]:
    """The dates that a condition requires, each as in `DateRange`."""
    match condition:
        case plan.DateRange(start, end):
            yield start, end
        case plan.AllOf(parts):
            for part in parts:
                yield from _required_dates(part)


def mask_dates(segment: Segment, start: int | None, end: int | None) -> Mask:
    """Mask of the documents dated within these milliseconds since the epoch, both inclusive."""
    date = segment.column("date")
    mask: Mask = date != NO_DATE
    if start is not None:
        mask &= date >= start
    if end is not None:
        mask &= date <= end
    return mask


def mask_sources(segment: Segment, forms: Sequence[str]) -> Mask:
    """Mask of the documents with one of these sources, given in their written forms (`resolve_source`)."""
    numbers = [n for n, source in enumerate(segment.sources) if source in forms]
    return np.isin(segment.column("source"), numbers)


def mask_attribute(segment: Segment, wanted: plan.HasAttribute) -> Mask:
    """Mask of the documents with one of these values, given in written forms (`resolve_attribute`)."""
    mask = np.zeros(segment.document_count, bool)
    mask[segment.attributes.documents(wanted.names, wanted.values)] = True
    return mask


def mask_entities(segment: Segment, names: Sequence[str]) -> Mask:
    """Mask of the sentences that mention one of these names, given as keys (`resolve_name`) or forms."""
    return segment.enrichment.name_mask(map(name_key, names))


def mask_condition(condition: plan.Condition, segment: Segment, positions: PositionCache) -> Mask:
    """Mask of the sentences that satisfy the condition, of shape (sentences,)."""
    match condition:
        case plan.AllOf(parts):
            return reduce(np.logical_and, (mask_condition(part, segment, positions) for part in parts))
        case plan.AnyOf(parts):
            return reduce(np.logical_or, (mask_condition(part, segment, positions) for part in parts))
        case plan.Not(part):
            return ~mask_condition(part, segment, positions)
        case plan.HasTerm(term):
            numbers = segment.sentence_postings(segment.terms.find(term)).numbers
            return _mark(segment.sentence_count, numbers)
        case plan.HasWords(words, field):
            return _mask_positions(segment, find_phrase(segment.words, words, positions), field, positions)
        case plan.HasPrefix(prefix, "sentence"):
            return mask_prefix(segment.words, prefix, segment.sentence_count, positions)
        case plan.HasPrefix(prefix, field):
            return _mask_positions(segment, find_prefix(segment.words, prefix, positions), field, positions)
        case plan.HasEntity(keys):
            return mask_entities(segment, keys)
        case plan.HasQuote():
            return segment.enrichment.quote_mask()
        case plan.SaidBy(keys, probable):
            return segment.enrichment.quote_mask(map(name_key, keys), probable)
        case plan.HasSource(forms):
            return _mask_sentences_of(segment, mask_sources(segment, forms))
        case plan.HasAttribute():
            return _mask_sentences_of(segment, mask_attribute(segment, condition))
        case plan.HasLanguage(language):
            return _mask_sentences_of(segment, _mask_language(segment, language))
        case plan.DateRange(start, end):
            if not segment.may_hold(start, end):
                return np.zeros(segment.sentence_count, bool)
            return _mask_sentences_of(segment, mask_dates(segment, start, end))


def _mask_positions(
    segment: Segment, word_positions: Positions, field: plan.TextField, positions: PositionCache
) -> Mask:
    """Mask of the sentences, or of the sentences under titles, that contain these positions."""
    in_texts = positions.of(segment.words)
    if field == "sentence":
        return _mark(segment.sentence_count, in_texts.sentences(word_positions))
    return _mask_sentences_of(segment, _mark(segment.document_count, in_texts.titles(word_positions)))


def _mask_language(segment: Segment, language: str) -> Mask:
    """Mask of the documents in a language or in a variety of it."""
    names = [(name or "").lower() for name in segment.languages]
    matches = [name == language or name.startswith(f"{language}-") for name in names]
    mask: Mask = np.array(matches, bool)[segment.column(LANGUAGE)]
    return mask


def _mark(count: int, numbers: npt.NDArray[Any]) -> Mask:
    mask = np.zeros(count, bool)
    mask[numbers] = True
    return mask


def _mask_sentences_of(segment: Segment, documents: Mask) -> Mask:
    """Mask of the sentences in these documents."""
    mask: Mask = documents[segment.column("document")]
    return mask


class ConditionCache:
    """The masks of conditions on the segments of a snapshot, kept in memory. Threads share it."""

    def __init__(self, segments: Sequence[Segment], positions: PositionCache, memory: SearchMemory) -> None:
        self._segments = segments
        self._positions = positions
        self._memory = memory
        self._token = object()
        """Separates the masks of these segments in the shared memory, without keeping the segments alive."""

    def masks(self, condition: plan.Condition, live: range | None = None) -> list[Mask]:
        """Masks of the sentences that satisfy the condition, by segment.

        Segments outside of `live` are not read, and have none.
        """
        if live is None:
            live = range(len(self._segments))
        return self._memory.get((self._token, condition, live), partial(self._make, condition, live), _size)

    def _make(self, condition: plan.Condition, live: range) -> list[Mask]:
        return [
            mask_condition(condition, segment, self._positions)
            if n in live
            else np.zeros(segment.sentence_count, bool)
            for n, segment in enumerate(self._segments)
        ]


def _size(masks: Sequence[Mask]) -> int:
    return sum(mask.nbytes for mask in masks)
