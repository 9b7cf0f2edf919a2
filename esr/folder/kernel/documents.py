"""Scores documents: locates their postings, lays them out, and selects sentences that may be in the top k.

Documents are taken in order of falling bounds, roughly. Their postings are scattered in memory, so they are
located a batch at a time: memory is prefetched, and no lookup waits for the one before it. The best k values
are a heap in an array whose first element is the least.
"""

from __future__ import annotations

import numpy as np

from esr.folder.kernel.columns import column_number, lower_bounds, prefetch
from esr.folder.kernel.layout import (
    COUNT_BITS,
    DOCUMENT_COUNTS,
    DOCUMENT_LEVEL,
    DOCUMENT_NUMBERS,
    DOCUMENTS_FROM,
    DOCUMENTS_TO,
    FIRST,
    FIRST_SENTENCE,
    LENGTH,
    LENGTHS,
    LONGEST,
    MIXTURE,
    SENTENCE_POSTINGS,
    SENTENCES_FROM,
    SENTENCES_TO,
    SHORTEST,
    SIZE,
    SURROUNDING,
)
from esr.folder.kernel.numba_support import inlined, uncounted
from esr.folder.kernel.score import (
    bound_far,
    bound_logarithm,
    bound_termless,
    sum_logarithms,
    value_sentences,
)


@inlined
def replace_least(top, value):
    """Replace the least of the k best values, which is the first of the heap `top`."""
    place, size = 0, len(top)
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and top[child + 1] < top[child]:
            child += 1
        if top[child] >= value:
            break
        top[place] = top[child]
        place = child
    top[place] = value


@inlined
def lay_out(scoring, commit, batch, j, space):
    """Fill the workspace with document j of the batch.

    Returns the number of terms present, the last position near a term, and the bound of the sentences that
    are near none.
    """
    segments, records, ranges = commit.segments, commit.documents, scoring.posting_ranges
    shape, transform = scoring.shape, scoring.numbers
    counts, around, lifts, m, last = space.counts, space.around, space.lifts, 0, 0
    d, g = batch.documents[j], batch.owners[j]
    shortest, longest = records[d, SHORTEST], records[d, LONGEST]
    far = bound_termless(scoring, shortest, longest)
    first, size = records[d, FIRST] - segments[g, FIRST_SENTENCE], records[d, SIZE]
    bits, before = segments[g, COUNT_BITS], first - 1
    high, count_mask = (first + size) << bits, (1 << bits) - 1
    for t in range(len(ranges)):
        at = batch.document_postings[t, j]
        space.document_counts[t] = 0.0
        if at < 0:
            continue
        space.present[m] = t
        m += 1
        share = space.document_counts[t] = column_number(segments, g, DOCUMENT_COUNTS, at)
        if shape == MIXTURE:
            space.share[t] = share / max(records[d, LENGTH], 1)
        else:
            norm = 1.0 - transform[8] + transform[8] * records[d, LENGTH] / transform[9]
            space.share[t] = share * transform[7] / (norm if norm > 0 else 1.0)
        most = bound_far(scoring, space, t, shortest, longest)
        far += most
        impact = scoring.impacts[scoring.impact_offsets[t, g] + at]
        lift, before_place = max(space.weight[t] * impact - most, 0.0), -2
        lift_beside = lift if scoring.reads_surrounding else 0.0
        at, end = batch.sentence_postings[t, j], ranges[t, g, SENTENCES_TO]
        while at < end:
            posting = column_number(segments, g, SENTENCE_POSTINGS, at)
            if posting >= high:
                break
            place, count = (posting >> bits) - before, posting & count_mask
            counts[t, place] = count
            around[t, place - 1] += count
            around[t, place] += count
            around[t, place + 1] += count
            # A sentence near two occurrences is lifted once.
            lifts[place - 1] += lift_beside * (before_place < place - 2)
            lifts[place] += lift_beside * (before_place < place - 1) + (lift - lift_beside)
            lifts[place + 1] += lift_beside
            before_place = place
            last = max(last, place + 1)
            at += 1
    return m, last, far


@inlined
def clear(space, m, last):
    """Clear what `lay_out` has written, given its number of terms and its last position."""
    for place in range(last + 1):
        space.lifts[place] = 0.0
    for n in range(m):
        t = space.present[n]
        for place in range(last + 1):
            space.counts[t, place] = 0.0
            space.around[t, place] = 0.0


@inlined
def is_candidate(candidates, space, place):
    """Whether the candidate rule takes a sentence of a document that it reaches."""
    if candidates == DOCUMENT_LEVEL:
        return True
    for t in range(len(space.own)):
        count = space.around[t, place] if candidates == SURROUNDING else space.counts[t, place]
        if space.own[t] and count > 0:
            return True
    return False


@inlined
def list_places(scoring, space, begin, size, least_lift):
    """List the positions from 1 to `size` of candidates with at least this lift. Returns their number."""
    candidates, mask, scores = scoring.candidates, scoring.mask, scoring.static_scores
    lifts, places, n = space.lifts, space.listed.places, 0
    if candidates == DOCUMENT_LEVEL and len(mask) == 0 and len(scores) == 0:
        for place in range(1, size + 1):
            # No branch: it would be hard to predict which positions are near a term.
            places[n] = place
            n += lifts[place] >= least_lift
        return n
    for place in range(1, size + 1):
        s = begin + place - 1
        if lifts[place] < least_lift or (len(mask) > 0 and not mask[s]):
            continue
        if (len(scores) == 0 or scores[s] > -np.inf) and is_candidate(candidates, space, place):
            places[n] = place
            n += 1
    return n


@inlined
def add_sentence(selection, used, s, value, space, i, length):
    """Append listed sentence i to the selection, with the facts from which its evidence is computed.

    `length` is the length of its document.
    """
    listed, terms, facts = space.listed, len(space.weight), selection.facts
    place = listed.places[i]
    selection.sentences[used], selection.values[used] = s, value
    for t in range(terms):
        facts[used, t] = space.counts[t, place]
        facts[used, terms + t] = space.around[t, place]
        facts[used, 2 * terms + t] = space.document_counts[t]
    facts[used, 3 * terms] = listed.lengths[i]
    facts[used, 3 * terms + 1] = listed.around_lengths[i]
    facts[used, 3 * terms + 2] = length


@uncounted
def select_sentences(scoring, commit, batch, space, selection, used, at, end):
    """Score the sentences of the documents of a batch from `at` to before `end`.

    Sentences that may be in the top k are appended to the selection, which holds `used` sentences. Returns
    its new size, the first document for which there was no room, and the number of sentences scored. The
    workspace is left clear.
    """
    segments, records, margin, top = commit.segments, commit.documents, scoring.margin, selection.top
    scores, upper_bounds = scoring.static_scores, scoring.static_bounds
    listed, room, valued = space.listed, len(selection.sentences), 0
    bits = listed.products.view(np.int64)
    for j in range(at, end):
        if batch.bounds[j] < top[0]:
            continue
        d, g = batch.documents[j], batch.owners[j]
        begin, size = records[d, FIRST], records[d, SIZE]
        if used + size > room:
            return used, j, valued
        m, last, far = lay_out(scoring, commit, batch, j, space)
        least_lift = top[0] - (far + margin + (upper_bounds[d] if len(upper_bounds) else 0.0))
        # Far from all terms, the value depends only on the document and the sentence's length.
        with_rest = scoring.candidates == DOCUMENT_LEVEL and least_lift <= 0
        n = list_places(scoring, space, begin, size if with_rest else min(last, size), least_lift)
        valued += n
        value_sentences(scoring, segments, g, space, m, n, begin - segments[g, FIRST_SENTENCE], size)
        for i in range(n):
            s, total = begin + listed.places[i] - 1, listed.totals[i] + margin
            if len(scores):
                total += scores[s]
            # Most values are far below the k-th: a bound saves computing their logarithms.
            if listed.products[i] < np.inf and total + bound_logarithm(bits[i]) < top[0]:
                continue
            value = total + sum_logarithms(space, m, i)
            if value >= top[0]:
                add_sentence(selection, used, s, value, space, i, records[d, LENGTH])
                used += 1
                if value - margin > top[0]:
                    replace_least(top, value - margin)
        clear(space, m, last)
    return used, end, valued


# Locating postings

LINE = 64
"""Bytes in a cache line."""
MAX_PREFETCHED = 1 << 16
"""Size of postings in bytes above which a term's postings are not prefetched."""


@inlined
def prefetch_numbers(segments, g, column, begin, end):
    """Prefetch a range of a segment's column, unless it is too long."""
    address, width = segments[g, column], segments[g, column + 1]
    if width * (end - begin) <= MAX_PREFETCHED:
        for line in range(address + width * begin, address + width * end, LINE):
            prefetch(line)


@uncounted
def prefetch_postings(segments, ranges):
    """Prefetch the postings of all terms, before those of some documents are searched."""
    for t in range(len(ranges)):
        for g in range(len(segments)):
            prefetch_numbers(
                segments, g, SENTENCE_POSTINGS, ranges[t, g, SENTENCES_FROM], ranges[t, g, SENTENCES_TO]
            )
            prefetch_numbers(
                segments, g, DOCUMENT_COUNTS, ranges[t, g, DOCUMENTS_FROM], ranges[t, g, DOCUMENTS_TO]
            )


@uncounted
def locate_postings(commit, ranges, batch, n):
    """Find the segments of the first n documents of the batch, and their postings of each term."""
    segments, records, bases = commit.segments, commit.documents, commit.document_bases
    documents, owners = batch.documents, batch.owners
    for j in range(n):
        prefetch(records.ctypes.data + records.strides[0] * documents[j])
        g = 0
        while bases[g + 1] <= documents[j]:
            g += 1
        owners[j] = g
    for g in range(len(segments)):
        members = find_members(batch, g, n)
        if members == 0:
            continue
        for t in range(len(ranges)):
            locate_in_documents(commit, ranges, batch, t, g, members)
        for i in range(members):
            first = records[documents[batch.members[i]], FIRST] - segments[g, FIRST_SENTENCE]
            prefetch(segments[g, LENGTHS] + segments[g, LENGTHS + 1] * first)
        for t in range(len(ranges)):
            locate_in_sentences(commit, ranges, batch, t, g, members)


@inlined
def find_members(batch, g, n):
    """Set `batch.members` to those of the first n documents that are in a segment. Returns their number."""
    members = 0
    for j in range(n):
        batch.members[members] = j
        members += batch.owners[j] == g
    return members


@inlined
def locate_in_documents(commit, ranges, batch, t, g, members):
    """Find a term's document postings, -1 for documents without the term."""
    segments, base, end = commit.segments, commit.document_bases[g], ranges[t, g, DOCUMENTS_TO]
    for i in range(members):
        batch.wanted[i] = batch.documents[batch.members[i]] - base
    low, wanted = ranges[t, g, DOCUMENTS_FROM], batch.wanted[:members]
    lower_bounds(segments, g, DOCUMENT_NUMBERS, low, end, wanted, batch.found)
    for i in range(members):
        at = batch.found[i]
        is_present = at < end and column_number(segments, g, DOCUMENT_NUMBERS, at) == batch.wanted[i]
        batch.document_postings[t, batch.members[i]] = at if is_present else -1


@inlined
def locate_in_sentences(commit, ranges, batch, t, g, members):
    """Find a term's first sentence posting in each document that has the term."""
    segments, records = commit.segments, commit.documents
    shift, bits, n = segments[g, FIRST_SENTENCE], segments[g, COUNT_BITS], 0
    counts, width = segments[g, DOCUMENT_COUNTS], segments[g, DOCUMENT_COUNTS + 1]
    for i in range(members):
        j = batch.members[i]
        at = batch.document_postings[t, j]
        batch.having[n] = j
        batch.wanted[n] = (records[batch.documents[j], FIRST] - shift) << bits
        if at >= 0:
            prefetch(counts + width * at)
        n += at >= 0
    low, high = ranges[t, g, SENTENCES_FROM], ranges[t, g, SENTENCES_TO]
    lower_bounds(segments, g, SENTENCE_POSTINGS, low, high, batch.wanted[:n], batch.found)
    for i in range(n):
        batch.sentence_postings[t, batch.having[i]] = batch.found[i]


# The order of documents

ORDERED = 256
"""Number of buckets into which documents are sorted by their bounds. A heap takes ten times as long."""


@inlined
def take_documents(keys, documents, done, size, threshold):
    """Move the documents from `done` on whose bounds reach the threshold to the front of the rest.

    Returns their number, and the least and the greatest of their bounds.
    """
    end, lowest, highest = done, np.inf, -np.inf
    for n in range(done, size):
        key = keys[n]
        if key >= threshold:
            keys[n], keys[end] = keys[end], key
            documents[n], documents[end] = documents[end], documents[n]
            lowest, highest = min(lowest, key), max(highest, key)
            end += 1
    return end - done, lowest, highest


@inlined
def order_documents(keys, documents, lowest, highest):
    """Sort bounds and their documents into buckets, greatest bounds first. Returns both."""
    size, ends = len(keys), np.zeros(ORDERED + 1, np.int64)
    scale = (ORDERED - 1) / (highest - lowest) if highest > lowest else 0.0
    for n in range(size):
        ends[ORDERED - int((keys[n] - lowest) * scale)] += 1
    for bucket in range(ORDERED):
        ends[bucket + 1] += ends[bucket]
    ordered_keys, ordered = np.empty(size), np.empty(size, np.int64)
    for n in range(size):
        bucket = ORDERED - 1 - int((keys[n] - lowest) * scale)
        place = ends[bucket]
        ends[bucket] = place + 1
        ordered_keys[place], ordered[place] = keys[n], documents[n]
    return ordered_keys, ordered


@inlined
def fill_batch(batch, keys, documents, sizes, at, least):
    """Put documents from `at` on into the batch, skipping those whose bounds are below `least`.

    Returns the next position, the number of documents in the batch, and the greatest number of sentences in
    one.
    """
    filled, largest, room = 0, 0, len(batch.documents)
    while at < len(keys) and filled < room:
        if keys[at] >= least:
            d = documents[at]
            batch.documents[filled], batch.bounds[filled] = d, keys[at]
            largest = max(largest, sizes[d])
            filled += 1
        at += 1
    return at, filled, largest
