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
    date = segment.column("date")
    if filters.date_from is not None:
        mask &= (date >= filters.date_from) & (date != NO_DATE)
    if filters.date_to is not None:
        mask &= (date <= filters.date_to) & (date != NO_DATE)
    if filters.sources:
        sources = [n for n, source in enumerate(segment.sources) if source in filters.sources]
        mask &= np.isin(segment.column("source"), sources)
    if filters.documents:
        numbers = [n for n in map(segment.document_ids.find, filters.documents) if n is not None]
        listed = np.zeros(len(mask), bool)
        listed[numbers] = True
        mask &= listed
    return mask


def mask_entities(segment: Segment, names: tuple[str, ...]) -> Mask:
    """Which sentences have one of these entities, named as `Filters.entities` names them."""
    entities = (entity for name in names for entity in parse_entity_filter(name))
    return segment.enrichment.entity_mask(map(entity_key, entities))
