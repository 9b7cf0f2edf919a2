"""The bounds of documents: sums of impacts, and what priors, features and filters make of them."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.columns import number_at
from esr.engines.embedded.search.kernel.layout import (
    DOCUMENT_LEVEL,
    DOCUMENT_NUMBERS,
    DOCUMENTS_FROM,
    DOCUMENTS_TO,
    FIRST,
    FIRST_DOCUMENT,
    OWN,
    SIZE,
)
from esr.engines.embedded.search.kernel.numba_support import inlined

BUCKETS, SAMPLE = 256, 4096
"""A threshold is read from so many buckets, of a sample of at least so many bounds."""


@inlined
def are_all_own(rule, terms):
    """Whether all documents that are reached hold a term of the query's own."""
    table, all_own = terms.table, not rule.all_documents
    for t in range(len(table)):
        all_own &= table[t, OWN] > 0
    return all_own


@inlined
def offset_impacts(terms, segments):
    """`Scoring.impact_offsets`."""
    ranges, offsets = terms.posting_ranges, np.empty((len(terms.table), segments), np.int64)
    for t in range(len(offsets)):
        start = terms.impact_starts[t]
        for g in range(segments):
            offsets[t, g] = start - ranges[t, g, DOCUMENTS_FROM]
            start += ranges[t, g, DOCUMENTS_TO] - ranges[t, g, DOCUMENTS_FROM]
    return offsets


@inlined
def add_impacts(terms, commit, g, weight, starts, scratch, reached):
    """Add up the impacts of a segment's documents, and append those that have any to `scratch.documents`.

    `starts` has the next impact of each term, `reached` the number of documents; gives the new number.
    """
    segments, ranges, impacts = commit.segments, terms.posting_ranges, terms.impacts
    bounds, documents, empty = scratch.bounds, scratch.documents, terms.termless[0]
    numbers, width, shift = (
        segments[g, DOCUMENT_NUMBERS],
        segments[g, DOCUMENT_NUMBERS + 1],
        segments[g, FIRST_DOCUMENT],
    )
    for t in range(len(weight)):
        impact, w = starts[t], weight[t]
        for i in range(ranges[t, g, DOCUMENTS_FROM], ranges[t, g, DOCUMENTS_TO]):
            d = shift + number_at(numbers, width, i)
            # No branch: whether a document has a bound already is hard to foresee.
            bound = bounds[d]
            is_new = bound == -np.inf
            documents[reached] = d
            reached += is_new
            bounds[d] = (empty if is_new else bound) + w * impacts[impact]
            impact += 1
        starts[t] = impact
    return reached


@inlined
def add_documents(terms, mask, scratch, reached):
    """Give the documents of the mask without a term a bound, and append them to `scratch.documents`."""
    bounds, documents, empty = scratch.bounds, scratch.documents, terms.termless[0]
    for d in range(len(bounds)):
        if (len(mask) == 0 or mask[d]) and bounds[d] == -np.inf:
            bounds[d] = empty
            documents[reached] = d
            reached += 1
    return reached


@inlined
def mark_reached(terms, commit, g, own, scratch):
    """Mark a segment's documents that hold a term of the query's own."""
    segments, ranges, marks = commit.segments, terms.posting_ranges, scratch.reached
    numbers, width, shift = (
        segments[g, DOCUMENT_NUMBERS],
        segments[g, DOCUMENT_NUMBERS + 1],
        segments[g, FIRST_DOCUMENT],
    )
    for t in range(len(own)):
        if own[t]:
            for i in range(ranges[t, g, DOCUMENTS_FROM], ranges[t, g, DOCUMENTS_TO]):
                marks[shift + number_at(numbers, width, i)] = True


@inlined
def bound_documents(rule, transform, terms, commit, statics, filters, scratch, reached):
    """The bounds of the reached documents that may have candidates, packed into `scratch.keys`.

    Gives the number of all candidates, where these are whole documents; the number of bounds; and a threshold
    that somewhat more than k of the bounds reach.
    """
    all_own, wanted = are_all_own(rule, terms), rule.k + 16
    bounds, marks, keys, documents = scratch.bounds, scratch.reached, scratch.keys, scratch.documents
    high, low, margin = transform.high, transform.low, rule.margin
    rising, falling = terms.termless[1], terms.termless[2]
    sizes, records, mask, allowed = commit.sizes, commit.documents, filters.documents, filters.sentences
    upper_bounds, scores = statics.upper_bounds, statics.scores
    sentences, size, lowest, highest = 0, 0, np.inf, -np.inf
    has_mask = len(mask) > 0 or len(allowed) > 0
    if all_own and not statics.has_gaps and not has_mask and len(upper_bounds) == 0 and falling == 0:
        # The usual search: nothing keeps a document out.
        for n in range(reached):
            d = documents[n]
            bound = bounds[d] + margin + rising * high[d]
            bounds[d] = -np.inf
            sentences += sizes[d]
            keys[n] = bound
            lowest, highest = min(lowest, bound), max(highest, bound)
        return sentences, reached, estimate_threshold(keys, reached, lowest, highest, wanted)
    for n in range(reached):
        d = documents[n]
        bound = bounds[d] + margin
        bounds[d] = -np.inf
        has_candidates = len(mask) == 0 or mask[d]
        if not all_own:
            has_candidates &= marks[d] or rule.all_documents
            marks[d] = False
        if not has_candidates:
            continue
        if rule.candidates == DOCUMENT_LEVEL:
            sentences += sizes[d]
            if statics.has_gaps or len(allowed):
                for s in range(records[d, FIRST], records[d, FIRST] + records[d, SIZE]):
                    is_out = len(allowed) > 0 and not allowed[s]
                    sentences -= is_out or (statics.has_gaps and scores[s] == -np.inf)
        if rising > 0:
            bound += rising * high[d]
        if falling < 0:
            bound += falling * low[d]
        if len(upper_bounds):
            bound += upper_bounds[d]
        if bound > -np.inf:
            keys[size], documents[size] = bound, d
            size += 1
            lowest, highest = min(lowest, bound), max(highest, bound)
    return sentences, size, estimate_threshold(keys, size, lowest, highest, wanted)


@inlined
def estimate_threshold(keys, size, lowest, highest, wanted):
    """A number that about so many of the keys reach as are wanted."""
    if size <= wanted or not highest > lowest:
        return lowest
    buckets = np.zeros(BUCKETS, np.int64)
    scale = (BUCKETS - 1) / (highest - lowest)
    step = 1 + size // SAMPLE
    for n in range(0, size, step):
        buckets[int((keys[n] - lowest) * scale)] += step
    bucket, above = BUCKETS - 1, buckets[BUCKETS - 1]
    while above < wanted and bucket > 0:
        bucket -= 1
        above += buckets[bucket]
    return lowest + bucket / scale
