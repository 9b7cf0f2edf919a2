"""Which documents and sentences of a segment satisfy the filters of a search, once these are resolved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from esr.engines.filters import Filters
from esr.engines.keys import name_key
from esr.engines.segments.store.segment import NO_DATE, Segment
from esr.plans.condition import HasAttribute

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
    for wanted in filters.attributes:
        mask &= mask_attribute(segment, wanted)
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


def mask_sources(segment: Segment, forms: Sequence[str]) -> Mask:
    """Which documents have one of these sources, as written (`resolve_source`)."""
    numbers = [n for n, source in enumerate(segment.sources) if source in forms]
    return np.isin(segment.column("source"), numbers)


def mask_attribute(segment: Segment, wanted: HasAttribute) -> Mask:
    """Which documents have one of the values, as written (`resolve_attribute`)."""
    mask = np.zeros(segment.document_count, bool)
    mask[segment.attributes.documents(wanted.names, wanted.values)] = True
    return mask


def mask_entities(segment: Segment, names: Sequence[str]) -> Mask:
    """Which sentences have one of these names, each a key (`resolve_name`) or any form with that key."""
    return segment.enrichment.name_mask(map(name_key, names))
