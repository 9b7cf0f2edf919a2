"""The values of a field, with the number of sentences that have each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from esr.folder.format.files import Numbers
from esr.folder.format.segment import Segment


def count_values(
    segment: Segment, names: Iterable[str], counts: Numbers | None = None
) -> Iterator[tuple[str, int]]:
    """Yield the written values of `source` or of attributes, with the number of documents of each.

    `names` are `source` or names of attributes. With `counts`, of shape (documents,), each document counts
    that many times instead of once.
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
