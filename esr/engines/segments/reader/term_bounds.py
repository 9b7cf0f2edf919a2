"""What every term of a segment adds at most in each document, for one mixture, and how bounds are rounded."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.reader.postings import read_batch
from esr.plans.bounds import Bound
from esr.plans.evidence import Array
from esr.plans.plan import Mixture

BATCH = 1 << 17
"""About how many sentence postings are looked at together: they take some 30 MB."""


def compute_upper_bounds(
    statistics: CommitStatistics,
    owner: int,
    transform: Mixture,
    elsewhere: Mapping[str, int] = MappingProxyType({}),
    total_elsewhere: int = 0,
) -> Array:
    """`Bound.upper_bounds` of all terms of a segment, in the order of its postings of documents.

    Terms are a query's own, and p(t|C) is that of the commit, with the occurrences that are elsewhere.
    """
    segment, bound = statistics.segments[owner], Bound(transform, statistics.collection.longest_sentence)
    background = statistics.background(owner, elsewhere, total_elsewhere)
    sentence_starts, document_starts = segment.column("sentence_starts"), segment.column("document_starts")
    upper_bounds = np.empty(int(document_starts[-1]))
    for first, last in batch_terms(sentence_starts):
        batch = slice(int(document_starts[first]), int(document_starts[last]))
        by_posting = np.repeat(background[first:last], np.diff(document_starts[first : last + 1]))
        postings = read_batch(statistics, owner, first, last, set(transform.fields()))
        upper_bounds[batch] = bound.upper_bounds_batch(*postings, by_posting)
    return upper_bounds


def round_outward(values: npt.NDArray[np.float64], *, up: bool) -> npt.NDArray[np.float32]:
    """The values in 32 bits, rounded up or down, so that a bound stays a bound."""
    rounded = values.astype(np.float32)
    is_inside = rounded < values if up else rounded > values
    np.nextafter(rounded, np.float32(np.inf if up else -np.inf), out=rounded, where=is_inside)
    return rounded


def batch_terms(sentence_starts: npt.NDArray[np.integer]) -> list[tuple[int, int]]:
    """Terms, from the first to before the last, that have about `BATCH` sentence postings together."""
    borders = np.searchsorted(sentence_starts, np.arange(0, int(sentence_starts[-1]), BATCH))
    ends = [*dict.fromkeys(borders.tolist()), len(sentence_starts) - 1]
    return [(first, last) for first, last in zip([0, *ends], ends, strict=False) if first < last]
