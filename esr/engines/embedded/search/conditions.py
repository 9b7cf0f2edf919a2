"""Which sentences of a segment satisfy a condition (`esr.plans.condition`)."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.filter_mask import mask_attribute, mask_dates, mask_entities, mask_sources
from esr.engines.embedded.search.word_search import PlaceCache, Places, find_phrase, find_prefix, mask_prefix
from esr.engines.segments.store.segment import LANGUAGE, Segment
from esr.plans.condition import (
    AllOf,
    AnyOf,
    Condition,
    DateRange,
    HasAttribute,
    HasEntity,
    HasLanguage,
    HasPrefix,
    HasSource,
    HasTerm,
    HasWords,
    Not,
    TextField,
)

Mask = npt.NDArray[np.bool_]


def mask_condition(condition: Condition, segment: Segment, places: PlaceCache) -> Mask:
    """Whether each sentence satisfies the condition, of shape (sentences,)."""
    match condition:
        case AllOf(parts):
            return reduce(np.logical_and, (mask_condition(part, segment, places) for part in parts))
        case AnyOf(parts):
            return reduce(np.logical_or, (mask_condition(part, segment, places) for part in parts))
        case Not(part):
            return ~mask_condition(part, segment, places)
        case HasTerm(term):
            numbers = segment.sentence_postings(segment.terms.find(term)).numbers
            return _mark(segment.sentence_count, numbers)
        case HasWords(words, field):
            return _mask_places(segment, find_phrase(segment.words, words, places), field, places)
        case HasPrefix(prefix, "sentence"):
            return mask_prefix(segment.words, prefix, segment.sentence_count, places)
        case HasPrefix(prefix, field):
            return _mask_places(segment, find_prefix(segment.words, prefix, places), field, places)
        case HasEntity(keys):
            return mask_entities(segment, keys)
        case HasSource(forms):
            return _mask_sentences_of(segment, mask_sources(segment, forms))
        case HasAttribute():
            return _mask_sentences_of(segment, mask_attribute(segment, condition))
        case HasLanguage(language):
            return _mask_sentences_of(segment, _mask_language(segment, language))
        case DateRange(start, end):
            return _mask_sentences_of(segment, mask_dates(segment, start, end))


def _mask_places(segment: Segment, found: Places, field: TextField, places: PlaceCache) -> Mask:
    """The sentences, or those under the titles, with these places of words."""
    in_texts = places.of(segment.words)
    if field == "sentence":
        return _mark(segment.sentence_count, in_texts.sentences(found))
    return _mask_sentences_of(segment, _mark(segment.document_count, in_texts.titles(found)))


def _mask_language(segment: Segment, language: str) -> Mask:
    """The documents in the language or in a variety of it."""
    names = [(name or "").lower() for name in segment.languages]
    matches = [name == language or name.startswith(f"{language}-") for name in names]
    mask: Mask = np.array(matches, bool)[segment.column(LANGUAGE)]
    return mask


def _mark(count: int, numbers: npt.NDArray[Any]) -> Mask:
    mask = np.zeros(count, bool)
    mask[numbers] = True
    return mask


def _mask_sentences_of(segment: Segment, documents: Mask) -> Mask:
    """The sentences of these documents."""
    mask: Mask = documents[segment.column("document")]
    return mask
