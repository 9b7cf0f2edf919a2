"""Computes the impacts of a spool's documents: what terms can add at most in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from esr.engines.elasticsearch.load.document_terms import PostingsByDocument
from esr.engines.elasticsearch.store.impacts import EMPTY, SMALLEST
from esr.engines.elasticsearch.store.term_maxima import short_float
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.reader.term_bounds import compute_upper_bounds, round_outward
from esr.plans.bounds import Bound
from esr.plans.evidence import Array
from esr.plans.plan import Mixture


class SegmentImpacts:
    """The impacts of the documents of one segment of a spool."""

    def __init__(
        self,
        spool: Snapshot,
        owner: int,
        postings: PostingsByDocument,
        transform: Mixture,
        longest: int,
        elsewhere: Mapping[str, int],
        total_elsewhere: int,
    ) -> None:
        """`owner` is the number of the segment, and `postings` are its own. `longest` is the longest sentence
        that the index describes.

        `elsewhere` has the occurrences of terms outside of the spool, and `total_elsewhere` is their sum.
        """
        statistics = spool.statistics
        table = statistics.document_table
        self._postings = postings
        upper_bounds = compute_upper_bounds(statistics, owner, transform, elsewhere, total_elsewhere)
        self._upper_bits = _upper_bits(upper_bounds)[postings.order]
        in_segment = slice(int(table.document_bases[owner]), int(table.document_bases[owner + 1]))
        bound = Bound(transform, longest)
        highest, _ = bound.log_collection_range(table.shortest[in_segment], table.longest[in_segment])
        self._empty_bits = _upper_bits(highest - bound.least_log_collection)

    def of_document(self, document: int) -> dict[str, float]:
        """The field `impacts` of the document with this number in the segment."""
        postings = self._postings.of_document(document)
        upper_bits = self._upper_bits[postings].tolist()
        impacts = dict(zip(self._postings.terms(postings), map(_impact, upper_bits), strict=True))
        impacts[EMPTY] = _impact(int(self._empty_bits[document]))
        return impacts


def _upper_bits(values: Array) -> npt.NDArray[np.int32]:
    """The upper bits of floats that are not less: a sparse vector's postings keep 16 bits of each."""
    bits = round_outward(np.maximum(values, SMALLEST), up=True).view(np.int32)
    upper_bits: npt.NDArray[np.int32] = -(-bits >> 15)
    return upper_bits


_impact = lru_cache(1 << 14)(short_float)
