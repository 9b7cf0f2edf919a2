"""Which documents and sentences of a segment satisfy the filters of a search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.engines.entities import entity_key, parse_entity_filter
from esr.engines.filters import Filters
from esr.engines.segments.store.segment import NO_DATE, Segment

Mask = npt.NDArray[np.bool_]


def mask_documents(segment: Segment, filters: Filters) -> Mask | None:
    """Which documents satisfy the filters on documents; None if there are no filters."""
    if not filters:
        return None
    mask = np.ones(segment.document_count, bool)
    if filters.date_from is not None or filters.date_to is not None:
        mask &= mask_dates(segment, filters.date_from, filters.date_to)
    if filters.sources:
        mask &= mask_sources(segment, filters.sources)
    if filters.documents:
        numbers = [n for n in map(segment.document_ids.find, filters.documents) if n is not None]
        listed = np.zeros(len(mask), bool)
        listed[numbers] = True
        mask &= listed
    return mask


def mask_dates(segment: Segment, start: int | None, end: int | None) -> Mask:
    """Which documents are of these milliseconds since the epoch, both ends included."""
    date = segment.column("date")
    mask: Mask = date != NO_DATE
    if start is not None:
        mask &= date >= start
    if end is not None:
        mask &= date <= end
    return mask


def mask_sources(segment: Segment, sources: tuple[str, ...]) -> Mask:
    """Which documents are from one of these sources."""
    numbers = [n for n, source in enumerate(segment.sources) if source in sources]
    return np.isin(segment.column("source"), numbers)


def mask_entities(segment: Segment, names: tuple[str, ...]) -> Mask:
    """Which sentences have one of these entities, named as `Filters.entities` names them."""
    entities = (entity for name in names for entity in parse_entity_filter(name))
    return segment.enrichment.entity_mask(map(entity_key, entities))
