"""How often each source occurs in a segment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from esr.engines.segments.store.layer_info import Numbers
from esr.engines.segments.store.segment import Segment


def count_sources(segment: Segment, counts: Numbers | None = None) -> Iterator[tuple[str, int]]:
    """The sources, as written, and how many documents have each.

    `counts`: how often each document counts, of shape (documents,), instead of once. Documents without a
    source count for none.
    """
    by_source = np.bincount(segment.column("source"), counts, len(segment.sources)).astype(np.int64)
    for source, count in zip(segment.sources, by_source.tolist(), strict=True):
        if source is not None and count:
            yield source, count
