"""What every term adds at most in each document, of one mixture: for an engine that keeps it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.engines.segments.reader.postings import of_terms
from esr.engines.segments.reader.snapshot import Snapshot
from esr.plans.bounds import Bound
from esr.plans.evidence import Array
from esr.plans.plan import Mixture

ROWS = 1 << 17
"""Terms in sentences that are looked at together, about: they take some 30 MB."""


def all_impacts(snapshot: Snapshot, owner: int, transform: Mixture) -> Array:
    """Of a segment's terms in documents, of the shape of its postings of documents.

    It is `Bound.most`. Terms are a query's own, and p(t|C) is that of the commit.
    """
    segment, bound = snapshot.segments[owner], Bound(transform, snapshot.collection.longest_sentence)
    background = snapshot.background(segment, {}, 0)
    rows, entries = segment.column("sentence_starts"), segment.column("document_starts")
    found = np.empty(int(entries[-1]))
    for first, last in _cuts(rows):
        cut = slice(int(entries[first]), int(entries[last]))
        of_entry = np.repeat(background[first:last], np.diff(entries[first : last + 1]))
        stand = of_terms(snapshot, owner, first, last, set(transform.fields()))
        found[cut] = bound.most_of_several(*stand, of_entry)
    return found


def _cuts(rows: npt.NDArray[np.integer]) -> list[tuple[int, int]]:
    """Terms, from the first to before the last, that have about so many rows together."""
    borders = np.searchsorted(rows, np.arange(0, int(rows[-1]), ROWS))
    ends = [*dict.fromkeys(borders.tolist()), len(rows) - 1]
    return [(first, last) for first, last in zip([0, *ends], ends, strict=False) if first < last]
