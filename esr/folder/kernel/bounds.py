"""Upper bounds of documents: the impacts of terms, and their sums with priors, features and filters.

Impacts are computed by the formulas of `esr.plans.bounds` in one pass over the postings. Each number is
computed by the same steps, and logarithms are left to numpy, so the results are identical.
"""

from __future__ import annotations

import numpy as np

from esr.folder.kernel.columns import number_at
from esr.folder.kernel.layout import (
    BACKGROUND,
    COUNT_BITS,
    DOCUMENT_COUNTS,
    DOCUMENT_LEVEL,
    DOCUMENT_NUMBERS,
    DOCUMENTS_FROM,
    DOCUMENTS_TO,
    EVIDENCE_COLLECTION,
    EVIDENCE_DOCUMENT,
    EVIDENCE_SENTENCE,
    EVIDENCE_SURROUNDING,
    FIRST,
    FIRST_DOCUMENT,
    FIRST_SENTENCE,
    LENGTH,
    LENGTHS,
    LONGEST,
    MIXTURE,
    OWN,
    SENTENCE_POSTINGS,
    SENTENCES_FROM,
    SENTENCES_TO,
    SHORTEST,
    SIZE,
    WEIGHT,
    Commit,
)
from esr.folder.kernel.numba_support import (
    COMMIT,
    DOUBLE_TABLE,
    DOUBLES,
    FLOATS,
    LONG,
    LONG_CUBE,
    LONGS,
    eager_jit,
    inlined,
    uncounted,
)
from esr.folder.kernel.score import reads_surrounding

BUCKETS, SAMPLE = 256, 4096
"""Number of buckets, and least number of sampled bounds, from which a threshold is estimated."""


@inlined
def are_all_own(rule, terms):
    """Whether every document that is reached contains one of the query's own terms."""
    table, all_own = terms.table, not rule.all_documents
    for t in range(len(table)):
        all_own &= table[t, OWN] > 0
    return all_own


@inlined
def offset_impacts(terms, segments):
    """Compute `Scoring.impact_offsets`."""
    ranges, offsets = terms.posting_ranges, np.empty((len(terms.table), segments), np.int64)
    for t in range(len(offsets)):
        start = terms.impact_starts[t]
        for g in range(segments):
            offsets[t, g] = start - ranges[t, g, DOCUMENTS_FROM]
            start += ranges[t, g, DOCUMENTS_TO] - ranges[t, g, DOCUMENTS_FROM]
    return offsets


@inlined
def add_impacts(terms, commit, g, weight, starts, scratch, reached):
    """Add up the impacts of a segment's documents, and append documents reached first to `scratch.documents`.

    `starts` has the index of the next impact of each term, `reached` the number of documents. Returns the new
    number.
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
            # No branch: it would be hard to predict whether a document already has a bound.
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
    """Give the masked documents without any term a bound, and append them to `scratch.documents`."""
    bounds, documents, empty = scratch.bounds, scratch.documents, terms.termless[0]
    for d in range(len(bounds)):
        if (len(mask) == 0 or mask[d]) and bounds[d] == -np.inf:
            bounds[d] = empty
            documents[reached] = d
            reached += 1
    return reached


@inlined
def mark_reached(terms, commit, g, own, scratch):
    """Mark a segment's documents that contain one of the query's own terms."""
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
    """Compute the bounds of the reached documents that may have candidates, packed into `scratch.keys`.

    Returns the number of candidates (if the rule takes whole documents), the number of bounds, and a
    threshold that somewhat more than k of the bounds reach.
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
        # The common case: no document is excluded.
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
    """Estimate a threshold that about `wanted` of the keys reach."""
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


@inlined
def better(a, b, falls):
    """The evidence that adds more: the lesser one if the weight is negative."""
    return min(a, b) if falls else max(a, b)


@inlined
def smoothed_share(numbers, at, length):
    """The worth of one occurrence in a field of a saturation."""
    norm = 1.0 - numbers[at + 1] + numbers[at + 1] * length / numbers[at + 2]
    return numbers[at] / (norm if norm > 0 else 1.0)


@inlined
def best_of_mixture(worth, term, record, share, near, best):
    """The best evidence in a document, relative to a sentence without the term.

    `best` is the best evidence of the sentences with the term, `near` the greatest share that these add to
    their neighbours. Without the term, the shortest and the longest sentence are the extremes.
    """
    background, own, falls = term
    termless = 1.0
    for corner in range(2):
        length = record[LONGEST] if corner else record[SHORTEST]
        nothing = worth[length, EVIDENCE_COLLECTION] * background
        least = nothing + worth[length, EVIDENCE_DOCUMENT] * share
        beside = least + worth[length, EVIDENCE_SURROUNDING] * near
        if own:
            termless = better(termless, nothing, falls) if corner else nothing
        else:
            least, beside = least / nothing, beside / nothing
        best = better(better(best, least, falls), beside, falls)
    return best / termless


@uncounted
def read_postings(transform, term, commit, g, ranges, best, place):
    """Set `best`, from `place` on, to the best evidence for a term in each document of a segment that has it.

    `ranges` are the posting ranges of the term. Returns the index after the last one set.
    """
    is_mixture, numbers, worth = transform
    background, own, falls = term
    segments, records = commit.segments, commit.documents
    postings, posting_width = segments[g, SENTENCE_POSTINGS], segments[g, SENTENCE_POSTINGS + 1]
    lengths, length_width = segments[g, LENGTHS], segments[g, LENGTHS + 1]
    documents, document_width = segments[g, DOCUMENT_NUMBERS], segments[g, DOCUMENT_NUMBERS + 1]
    counts, count_width = segments[g, DOCUMENT_COUNTS], segments[g, DOCUMENT_COUNTS + 1]
    bits, base, shift = segments[g, COUNT_BITS], segments[g, FIRST_DOCUMENT], segments[g, FIRST_SENTENCE]
    count_mask, worst = (1 << bits) - 1, np.inf if falls else -np.inf
    with_surrounding = reads_surrounding(is_mixture, numbers)
    at, end = ranges[SENTENCES_FROM], ranges[SENTENCES_TO]
    posting = number_at(postings, posting_width, at) if at < end else 0
    for i in range(ranges[DOCUMENTS_FROM], ranges[DOCUMENTS_TO]):
        d = base + number_at(documents, document_width, i)
        count = float(number_at(counts, count_width, i))
        first, size = records[d, FIRST] - shift, records[d, SIZE]
        last, high = first + size - 1, (first + size) << bits
        total, wide = max(float(records[d, LENGTH]), 1.0), 0.0
        if not is_mixture:
            wide = smoothed_share(numbers, 7, records[d, LENGTH]) * count
        greatest, near, before, before_count = worst, 0.0, -2, 0
        while at < end and posting < high:
            s, here = posting >> bits, posting & count_mask
            at += 1
            if at < end:
                posting = number_at(postings, posting_width, at)
            length = number_at(lengths, length_width, s)
            least = worth[length, EVIDENCE_COLLECTION] * background
            x = least + worth[length, EVIDENCE_SENTENCE] * here
            if with_surrounding:
                # No branches: neighbours are hard to predict.
                is_next = (at < end) & (posting < high) & (posting >> bits == s + 1)
                around = here + (before == s - 1) * before_count + is_next * (posting & count_mask)
                around_length = length + (s > first) * number_at(lengths, length_width, max(s - 1, first))
                around_length += (s < last) * number_at(lengths, length_width, min(s + 1, last))
                if is_mixture:
                    x += worth[length, EVIDENCE_SURROUNDING] / max(float(around_length), 1.0) * around
                    beside = here / max(float(length), 1.0)
                else:
                    x += smoothed_share(numbers, 4, around_length) * around
                    beside = numbers[4] * here / worth[length, EVIDENCE_SURROUNDING]
                near = max(near, beside)
                before, before_count = s, here
            if is_mixture:
                wide = worth[length, EVIDENCE_DOCUMENT] / total * count
            x += wide
            if is_mixture and not own:
                x /= least
            greatest = better(greatest, x, falls)
        if is_mixture:
            best[place] = best_of_mixture(worth, term, records[d], count / total, near, greatest)
        else:
            best[place] = better(better(greatest, wide, falls), wide + near, falls)
        place += 1
    return place


@uncounted
def read_terms(transform, table, ranges, commit, best):
    place = 0
    for t in range(len(table)):
        term = table[t, BACKGROUND], table[t, OWN] > 0, table[t, WEIGHT] < 0
        for g in range(len(commit.segments)):
            place = read_postings(transform, term, commit, g, ranges[t, g], best, place)


@eager_jit(LONG, DOUBLES, DOUBLE_TABLE, DOUBLE_TABLE, LONG_CUBE, COMMIT, DOUBLES)
def best_evidence(shape, numbers, worth, table, ranges, commit, best):
    """Set `best` to the best evidence of these terms in each of their documents, term by term.

    `numbers` are those of `Transform`, `worth` is `Bound.evidence_table`, `table` and `ranges` those of
    `Terms`.
    """
    read_terms((shape == MIXTURE, numbers, worth), table, ranges, Commit(*commit), best)


@eager_jit(DOUBLES, FLOATS, LONGS, DOUBLE_TABLE, DOUBLES)
def round_impacts(values, rounded, ends, table, greatest):
    """Round the values to 32 bits into `rounded`, outward, so that they remain bounds.

    `ends` holds the end of each term's values. `greatest` is set to the greatest absolute value of each term.
    """
    bits, place = rounded.view(np.int32), 0
    for t in range(len(ends)):
        falls, most = table[t, WEIGHT] < 0, np.float32(0)
        outward = np.int32(-1 if falls else 1)
        for n in range(place, ends[t]):
            value = rounded[n] = np.float32(values[n])
            is_inside = (value > values[n]) if falls else (value < values[n])
            # The next number outward: the bits of positive numbers rise with them, those of negative numbers
            # fall.
            bits[n] += is_inside * (outward if bits[n] >= 0 else -outward)
            most = max(most, abs(rounded[n]))
        greatest[t], place = most, ends[t]
