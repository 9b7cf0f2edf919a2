"""Counts of candidates by a field of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np

from esr.engines.embedded.build import NO_DATE
from esr.engines.embedded.layer import Numbers
from esr.engines.embedded.segment import Segment

Chosen = Sequence[tuple[Segment, Numbers]]
"""By segment, the candidates in it."""
Facets = list[tuple[str, int]]


def sources(chosen: Chosen, size: int) -> Facets:
    """The most frequent sources of the candidates. A candidate without a source counts for none."""
    counts: Counter[str] = Counter()
    for segment, at in chosen:
        codes = segment.column("source")[segment.column("document")[at]]
        held = np.bincount(codes, minlength=len(segment.sources)).tolist()
        for source, count in zip(segment.sources, held, strict=True):
            if source is not None and count:
                counts[source] += count
    return _most(counts.items(), size)


def months(chosen: Chosen, size: int) -> Facets:
    """The months, in UTC, of most candidates. A candidate without a date counts for none."""
    counts: Counter[str] = Counter()
    for segment, at in chosen:
        dates = segment.column("date")[segment.column("document")[at]]
        dated = dates[dates != NO_DATE].astype("datetime64[ms]").astype("datetime64[M]")
        months, held = np.unique(dated, return_counts=True)
        counts.update(dict(zip(np.datetime_as_string(months).tolist(), held.tolist(), strict=True)))
    return _most(counts.items(), size)


def entities(chosen: Chosen, type: str, size: int) -> Facets:
    """The most frequent entities of a type. A sentence that names one twice counts once."""
    found = [part for segment, at in chosen for part in segment.enriched.entity_counts(type, at)]
    if not found:
        return []
    # Names of several layers meet by their hash: only those that may be shown are read.
    codes = np.concatenate([layer.arrays["entity.hashes"][numbers] for layer, numbers, _ in found])
    ends = list(accumulate(len(numbers) for _, numbers, _ in found))
    _, at, which = np.unique(codes, return_index=True, return_inverse=True)
    counts = np.bincount(which, np.concatenate([part[2] for part in found])).astype(np.int64)
    least = np.partition(counts, len(counts) - size)[len(counts) - size] if size < len(counts) else 0
    shown = []
    for place, count in zip(at[counts >= least].tolist(), counts[counts >= least].tolist(), strict=True):
        owner = int(np.searchsorted(ends, place, "right"))
        layer, numbers, _ = found[owner]
        name = layer.name(int(numbers[place - (ends[owner] - len(numbers))]))
        shown.append((name.partition(":")[2], count))
    return _most(shown, size)


def _most(counts: Iterable[tuple[str, int]], size: int) -> Facets:
    return sorted(counts, key=lambda each: (-each[1], each[0]))[:size]
