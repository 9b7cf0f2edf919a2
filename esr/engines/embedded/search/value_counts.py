"""How often each value of a field of documents occurs in a segment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from esr.engines.segments.store.layer_info import Numbers
from esr.engines.segments.store.segment import Segment


def count_values(
    segment: Segment, names: Iterable[str], counts: Numbers | None = None
) -> Iterator[tuple[str, int]]:
    """The values of `source` or of attributes under these names, as written, and their numbers of documents.

    `counts`: how often each document counts, of shape (documents,), instead of once. Documents without a
    value count for none.
    """
    for name in names:
        yield from (
            _count_sources(segment, counts) if name == "source" else segment.attributes.count(name, counts)
        )


def _count_sources(segment: Segment, counts: Numbers | None) -> Iterator[tuple[str, int]]:
    by_source = np.bincount(segment.column("source"), counts, len(segment.sources)).astype(np.int64)
    for source, count in zip(segment.sources, by_source.tolist(), strict=True):
        if source is not None and count:
            yield source, count
