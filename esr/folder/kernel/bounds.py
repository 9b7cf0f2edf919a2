"""Upper bounds of documents: the impacts of terms, and their sums with priors, features and filters.

Impacts are computed by the formulas of `esr.plans.bounds` in one pass over the postings. Each number is
computed by the same steps, and numpy computes the logarithms, so the results are identical.
"""

from __future__ import annotations

import numpy as np

from esr.folder.kernel.layout import (
    DOCUMENT_LEVEL,
    EVIDENCE_COLLECTION,
    EVIDENCE_DOCUMENT,
    EVIDENCE_SENTENCE,
    EVIDENCE_SURROUNDING,
    MIXTURE,
    NO_VALUE,
    NOWHERE,
    TERM,
    UNREACHED,
    Commit,
)
from esr.folder.kernel.numba_support import (
    COMMIT,
    DOUBLE_TABLE,
    DOUBLES,
    FLOATS,
    FORMULA,
    LONGS,
    eager_jit,
    inlined,
    number_at,
    read_column,
    uncounted,
    view_ranges,
)
from esr.folder.kernel.score import field_worth, has_bit, reads_surrounding

BUCKETS, SAMPLE = 256, 4096
"""Number of buckets, and minimum number of sampled bounds, for the estimate of a threshold."""


@inlined
def are_all_own(rule, terms):
    """Whether every reached document contains one of the query's own terms."""
    table, all_own = terms.table, not rule.all_documents
    for t in range(len(table)):
        all_own &= table[t].own > 0
    return all_own


@inlined
def offset_impacts(terms, segments):
    """Compute `Scoring.impact_offsets`."""
    ranges, offsets = terms.ranges, np.empty((len(terms.table), segments), np.int64)
    for t in range(len(offsets)):
        start = int(terms.table[t].first_impact)
        for g in range(segments):
            offsets[t, g] = start - ranges[t, g].documents_from
            start += ranges[t, g].documents_to - ranges[t, g].documents_from
    return offsets


@inlined
def add_impacts(terms, commit, g, weight, offsets, scratch, reached):
    """Add up the impacts of a segment's documents, and append documents reached first to `scratch.documents`.

    `offsets` are `Scoring.impact_offsets`, `reached` is the number of documents. Returns the new number.
    """
    segment, ranges, impacts = commit.segments[g], terms.ranges, terms.impacts
    bounds, documents, empty = scratch.bounds, scratch.documents, terms.termless.constant
    numbers, width = segment.document_numbers.address, segment.document_numbers.width
    shift = segment.first_document
    for t in range(len(weight)):
        offset, w = offsets[t, g], weight[t]
        for i in range(ranges[t, g].documents_from, ranges[t, g].documents_to):
            d = shift + number_at(numbers, width, i)
            # No branch: it would be hard to predict whether a document already has a bound.
            bound = bounds[d]
            is_new = bound == UNREACHED
            documents[reached] = d
            reached += is_new
            bounds[d] = (empty if is_new else bound) + w * impacts[offset + i]
    return reached


@inlined
def add_documents(terms, mask, scratch, reached):
    """Give the masked documents without any term a bound, and append them to `scratch.documents`."""
    bounds, documents, empty = scratch.bounds, scratch.documents, terms.termless.constant
    for d in range(len(bounds)):
        if (len(mask) == 0 or mask[d]) and bounds[d] == UNREACHED:
            bounds[d] = empty
            documents[reached] = d
            reached += 1
    return reached


@inlined
def mark_reached(terms, commit, g, own, scratch):
    """Mark a segment's documents that contain one of the query's own terms."""
    segment, ranges, marks = commit.segments[g], terms.ranges, scratch.reached
    for t in range(len(own)):
        if own[t]:
            for i in range(ranges[t, g].documents_from, ranges[t, g].documents_to):
                marks[segment.first_document + read_column(segment.document_numbers, i)] = True


@inlined
def bound_documents(rule, transform, terms, commit, static_scores, filters, scratch, reached):
    """Compute the bounds of the reached documents that may have candidates, packed into `scratch.keys`.

    Returns the number of candidates (if the rule takes whole documents), the number of bounds, and a
    threshold that somewhat more than k bounds reach.
    """
    all_own, wanted = are_all_own(rule, terms), rule.k + 16
    bounds, marks, keys, documents = scratch.bounds, scratch.reached, scratch.keys, scratch.documents
    high, low, margin = transform.high, transform.low, rule.margin
    rising, falling = terms.termless.positive_weight, terms.termless.negative_weight
    sizes = commit.filled_sizes if rule.needs_term else commit.sizes
    records, mask, allowed = commit.documents, filters.documents, filters.sentences
    upper_bounds, scores = static_scores.upper_bounds, static_scores.scores
    sentences, size, lowest, highest = 0, 0, np.inf, -np.inf
    has_mask = len(mask) > 0 or len(allowed) > 0
    if all_own and not static_scores.has_gaps and not has_mask and len(upper_bounds) == 0 and falling == 0:
        # The common case: no document is excluded.
        for n in range(reached):
            d = documents[n]
            bound = bounds[d] + margin + rising * high[d]
            bounds[d] = UNREACHED
            sentences += sizes[d]
            keys[n] = bound
            lowest, highest = min(lowest, bound), max(highest, bound)
        return sentences, reached, estimate_threshold(keys, reached, lowest, highest, wanted)
    for n in range(reached):
        d = documents[n]
        bound = bounds[d] + margin
        bounds[d] = UNREACHED
        has_candidates = len(mask) == 0 or mask[d]
        if not all_own:
            has_candidates &= marks[d] or rule.all_documents
            marks[d] = False
        if not has_candidates:
            continue
        if rule.candidates == DOCUMENT_LEVEL:
            if static_scores.has_gaps or len(allowed):
                for s in range(records[d].first, records[d].first + records[d].size):
                    is_out = len(allowed) > 0 and not allowed[s]
                    is_out |= rule.needs_term and not has_bit(commit.filled, s)
                    sentences += not (is_out or (static_scores.has_gaps and scores[s] == NO_VALUE))
            else:
                sentences += sizes[d]
        if rising > 0:
            bound += rising * high[d]
        if falling < 0:
            bound += falling * low[d]
        if len(upper_bounds):
            bound += upper_bounds[d]
        if bound > NO_VALUE:
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
def best_of_mixture(worth, term, document, share, near, best):
    """The best evidence in a document, relative to a sentence without the term.

    `best` is the best evidence of the sentences with the term, `near` the greatest share that they add to
    their neighbours. Among sentences without the term, the shortest and the longest are the extremes.
    """
    background, own, falls = term
    termless = 1.0
    for corner in range(2):
        length = document.longest if corner else document.shortest
        nothing = worth[length, EVIDENCE_COLLECTION] * background
        least = nothing + worth[length, EVIDENCE_DOCUMENT] * share
        in_surrounding = least + worth[length, EVIDENCE_SURROUNDING] * near
        if own:
            termless = better(termless, nothing, falls) if corner else nothing
        else:
            least, in_surrounding = least / nothing, in_surrounding / nothing
        best = better(better(best, least, falls), in_surrounding, falls)
    return best / termless


@uncounted
def read_postings(transform, term, commit, g, ends, best, at_best):
    """Set `best`, from `at_best` on, to a term's best evidence in each of its documents in a segment.

    `ends` are the RANGES of the term's postings. Returns the index after the last one set.
    """
    is_mixture, saturation, with_surrounding, worth = transform
    background, own, falls = term
    segment, records = commit.segments[g], commit.documents
    # Columns are passed as address and width: fields of a record would be read again for each posting.
    postings, posting_width = segment.sentence_postings.address, segment.sentence_postings.width
    lengths, length_width = segment.lengths.address, segment.lengths.width
    numbers, number_width = segment.document_numbers.address, segment.document_numbers.width
    counts, count_width = segment.document_counts.address, segment.document_counts.width
    bits, base, shift = segment.count_bits, segment.first_document, segment.first_sentence
    count_mask, worst = (1 << bits) - 1, np.inf if falls else -np.inf
    at, end = ends.sentences_from, ends.sentences_to
    posting = number_at(postings, posting_width, at) if at < end else 0
    for i in range(ends.documents_from, ends.documents_to):
        document = records[base + number_at(numbers, number_width, i)]
        count = float(number_at(counts, count_width, i))
        first = document.first - shift
        last, high = first + document.size - 1, (first + document.size) << bits
        total = max(float(document.length), 1.0)
        in_document = 0.0 if is_mixture else field_worth(saturation.document, document.length) * count
        greatest, near, before, before_count = worst, 0.0, NOWHERE, 0
        while at < end and posting < high:
            s, in_sentence = posting >> bits, posting & count_mask
            at += 1
            if at < end:
                posting = number_at(postings, posting_width, at)
            length = number_at(lengths, length_width, s)
            least = worth[length, EVIDENCE_COLLECTION] * background
            x = least + worth[length, EVIDENCE_SENTENCE] * in_sentence
            if with_surrounding:
                # No branches: neighbours are hard to predict.
                is_next = (at < end) & (posting < high) & (posting >> bits == s + 1)
                around = in_sentence + (before == s - 1) * before_count + is_next * (posting & count_mask)
                around_length = length + (s > first) * number_at(lengths, length_width, max(s - 1, first))
                around_length += (s < last) * number_at(lengths, length_width, min(s + 1, last))
                if is_mixture:
                    x += worth[length, EVIDENCE_SURROUNDING] / max(float(around_length), 1.0) * around
                    in_surrounding = in_sentence / max(float(length), 1.0)
                else:
                    x += field_worth(saturation.surrounding, around_length) * around
                    in_surrounding = (
                        saturation.surrounding.share * in_sentence / worth[length, EVIDENCE_SURROUNDING]
                    )
                near = max(near, in_surrounding)
                before, before_count = s, in_sentence
            if is_mixture:
                in_document = worth[length, EVIDENCE_DOCUMENT] / total * count
            x += in_document
            if is_mixture and not own:
                x /= least
            greatest = better(greatest, x, falls)
        if is_mixture:
            best[at_best] = best_of_mixture(worth, term, document, count / total, near, greatest)
        else:
            best[at_best] = better(better(greatest, in_document, falls), in_document + near, falls)
        at_best += 1
    return at_best


@uncounted
def read_terms(transform, table, ranges, commit, best):
    at_best = 0
    for t in range(len(table)):
        term = table[t].background, table[t].own > 0, table[t].weight < 0
        for g in range(len(commit.segments)):
            at_best = read_postings(transform, term, commit, g, ranges[t, g], best, at_best)


@eager_jit(FORMULA, DOUBLE_TABLE, DOUBLES, LONGS, COMMIT, DOUBLES)
def best_evidence(formula, worth, terms, ranges, commit, best):
    """Set `best` to the best evidence of these terms in each of their documents, term by term.

    `worth` is `Bound.evidence_table`. `terms` and `ranges` are the numbers of TERM and RANGES records.
    """
    shape, mixtures, saturations = formula
    with_surrounding = reads_surrounding(shape, mixtures[0], saturations[0])
    commit = Commit(*commit)
    ranges = view_ranges(ranges, len(commit.segments))
    transform = shape == MIXTURE, saturations[0], with_surrounding, worth
    read_terms(transform, terms.view(TERM), ranges, commit, best)


@eager_jit(DOUBLES, FLOATS, LONGS, DOUBLES, DOUBLES)
def round_impacts(values, rounded, ends, terms, greatest):
    """Round the values to 32 bits into `rounded`, outward, so that they remain bounds.

    `ends` holds the end of each term's values. `greatest` is set to the greatest absolute value of each term.
    """
    bits, table, place = rounded.view(np.int32), terms.view(TERM), 0
    for t in range(len(ends)):
        falls, most = table[t].weight < 0, np.float32(0)
        outward = np.int32(-1 if falls else 1)
        for n in range(place, ends[t]):
            value = rounded[n] = np.float32(values[n])
            is_inside = (value > values[n]) if falls else (value < values[n])
            # The next number outward: the bits of positive numbers rise with them, those of negative numbers
            # fall.
            bits[n] += is_inside * (outward if bits[n] >= 0 else -outward)
            most = max(most, abs(rounded[n]))
        greatest[t], place = most, ends[t]
