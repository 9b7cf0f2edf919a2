"""Scores documents: values their sentences, and selects those that may be in the top k.

Values follow the formulas of `esr.plans.evaluate`, with one logarithm of a product for several terms.
Evidence of the selected sentences is computed by the same steps as there, so it is identical.

Documents are taken in roughly descending order of their bounds. Their postings are scattered in memory, so
they are located a batch at a time: memory is prefetched, and no lookup waits for the one before it. The best
k values are a heap in an array whose first element is the least.
"""

from __future__ import annotations

import numpy as np

from esr.folder.kernel.layout import (
    ABSENT,
    DOCUMENT_LEVEL,
    IN_DOCUMENT,
    IN_SENTENCE,
    IN_SURROUNDING,
    LOG_COLLECTION,
    LOGARITHM,
    MIXTURE,
    NO_VALUE,
    NOWHERE,
    SURROUNDING,
)
from esr.folder.kernel.numba_support import compiled, inlined, lower_bounds, prefetch, read_column, uncounted

LOG_2 = 0.6931471805599454
"""The logarithm of 2, rounded up by some units in the last place."""


@inlined
def saturate(shape, k1, x):
    """Apply the curve of the saturation."""
    if x <= 0:
        return 0.0
    return np.log1p(x) if shape == LOGARITHM else (k1 + 1.0) * x / (k1 + x)


@inlined
def field_worth(field, length):
    """The worth of one occurrence in a field of a saturation, which has this length."""
    norm = 1.0 - field.b + field.b * length / field.average
    return field.share / (norm if norm > 0 else 1.0)


@inlined
def evidence_of(space, t, i):
    """The evidence for a term in a listed sentence; for a mixture, divided by the collection's weight."""
    listed = space.listed
    position = listed.positions[i]
    x = listed.in_document[i] * space.share[t] + listed.in_sentence[i] * space.counts[t, position]
    return x + listed.in_surrounding[i] * space.surrounding_counts[t, position]


@inlined
def weigh_listed(scoring, lengths, listed, n, first, size):
    """Set the worth of an occurrence in each field of the n listed sentences, and their termless totals.

    `lengths` is the column of the segment. `first` is the number of the document's first sentence there,
    `size` its number of sentences.
    """
    table, termless, saturation = scoring.length_table, scoring.termless, scoring.saturation
    end = first + size - 1
    for i in range(n):
        s = first + listed.positions[i] - 1
        length = around = read_column(lengths, s)
        around += (s > first) * read_column(lengths, max(s - 1, first))
        around += (s < end) * read_column(lengths, min(s + 1, end))
        listed.lengths[i], listed.surrounding_lengths[i], listed.products[i] = length, around, 1.0
        if scoring.shape == MIXTURE:
            query_weight = termless.positive_weight + termless.negative_weight
            listed.totals[i] = termless.constant + query_weight * table[length, LOG_COLLECTION]
            listed.in_sentence[i] = table[length, IN_SENTENCE]
            listed.in_surrounding[i] = table[length, IN_SURROUNDING] / max(around, 1)
            listed.in_document[i] = table[length, IN_DOCUMENT]
        else:
            listed.totals[i], listed.in_document[i] = 0.0, 1.0
            listed.in_sentence[i] = field_worth(saturation.sentence, length)
            listed.in_surrounding[i] = field_worth(saturation.surrounding, around)


@inlined
def value_sentences(scoring, lengths, space, m, n, first, size):
    """Score the n listed sentences of a document: `totals` plus the logarithms of `products`.

    Products may overflow. `m` terms are present in the document. The other arguments are those of
    `weigh_listed`.
    """
    shape, k1, listed = scoring.shape, scoring.saturation.k1, space.listed
    weigh_listed(scoring, lengths, listed, n, first, size)
    for j in range(m):
        t = space.present[j]
        weight, inverse = space.weight[t], space.inverse_background[t]
        if shape != MIXTURE:
            for i in range(n):
                listed.totals[i] += weight * saturate(shape, k1, evidence_of(space, t, i))
        elif weight == 1.0:
            for i in range(n):
                listed.products[i] *= 1.0 + evidence_of(space, t, i) * inverse
        else:
            for i in range(n):
                listed.totals[i] += weight * np.log(1.0 + evidence_of(space, t, i) * inverse)


@inlined
def bound_logarithm(bits):
    """An upper bound of the logarithm of a positive, finite number, from its bits: at most 0.06 too great."""
    return (bits * 2.0**-52 - 1022.9139) * LOG_2


@inlined
def sum_logarithms(space, m, i):
    """The logarithm of the product of a listed sentence, even if the product overflows."""
    product = space.listed.products[i]
    if product < np.inf:
        return np.log(product)
    total = 0.0
    for k in range(m):
        t = space.present[k]
        if space.weight[t] == 1.0:
            total += np.log(1.0 + evidence_of(space, t, i) * space.inverse_background[t])
    return total


@inlined
def reads_surrounding(shape, mixture, saturation):
    """Whether a transform uses the surrounding."""
    if shape == MIXTURE:
        return mixture.surrounding.constant != 0 or mixture.surrounding.slope != 0
    return saturation.surrounding.share != 0


@inlined
def bound_termless(scoring, shortest, longest):
    """Upper bound of a sentence's score without any of the terms.

    `shortest` and `longest` are the lengths of the document's shortest and longest sentence.
    """
    termless, table = scoring.termless, scoring.length_table
    if scoring.shape != MIXTURE:
        return termless.constant
    at_shortest, at_longest = table[shortest, LOG_COLLECTION], table[longest, LOG_COLLECTION]
    high, low = max(at_shortest, at_longest), min(at_shortest, at_longest)
    return termless.constant + termless.positive_weight * high + termless.negative_weight * low


@inlined
def bound_far(scoring, space, t, shortest, longest):
    """Upper bound of what a term of the document adds to the termless score of a sentence not near it."""
    weight, share, table = space.weight[t], space.share[t], scoring.length_table
    if scoring.shape != MIXTURE:
        return weight * saturate(scoring.shape, scoring.saturation.k1, share)
    x = share * space.inverse_background[t]
    at_shortest = weight * np.log(1.0 + table[shortest, IN_DOCUMENT] * x)
    at_longest = weight * np.log(1.0 + table[longest, IN_DOCUMENT] * x)
    if not space.own[t]:
        return max(at_shortest, at_longest)
    lacking_shortest = weight * table[shortest, LOG_COLLECTION]
    lacking_longest = weight * table[longest, LOG_COLLECTION]
    most = max(at_shortest + lacking_shortest, at_longest + lacking_longest)
    return most - max(lacking_shortest, lacking_longest)


@inlined
def weight_at(affine, beta):
    """The weight of a field of a mixture."""
    return affine.constant + affine.slope * beta


@inlined
def weigh_fields(shape, mixture, saturation, sentence, surrounding, document):
    """The worth of an occurrence in a sentence, its surrounding and its document, whose lengths are given.

    The fourth number is the collection's weight.
    """
    if shape == MIXTURE:
        beta = 0.0 if mixture.mu == 0 else mixture.mu / (sentence + mixture.mu)
        return (
            weight_at(mixture.sentence, beta) / max(sentence, 1.0),
            weight_at(mixture.surrounding, beta) / max(surrounding, 1.0),
            weight_at(mixture.document, beta) / max(document, 1.0),
            weight_at(mixture.collection, beta),
        )
    return (
        field_worth(saturation.sentence, sentence),
        field_worth(saturation.surrounding, surrounding),
        field_worth(saturation.document, document),
        0.0,
    )


@compiled
def compute_evidence(formula, table, facts, order):
    """The evidence for sentences, of shape (T, n), as `esr.plans.evaluate.combine_evidence` computes it.

    Each number is computed by the same steps. `facts` are those of `Selection`, `order` the row of each
    sentence.
    """
    terms, is_mixture = len(table), formula.shape == MIXTURE
    evidence = np.empty((terms, len(order)))
    for n in range(len(order)):
        row = facts[order[n]]
        in_sentence, in_surrounding, in_document, collection = weigh_fields(
            formula.shape,
            formula.mixture[0],
            formula.saturation[0],
            row[3 * terms],
            row[3 * terms + 1],
            row[3 * terms + 2],
        )
        for t in range(terms):
            least = collection * table[t].background
            x = (
                least
                + in_sentence * row[t]
                + in_surrounding * row[terms + t]
                + in_document * row[2 * terms + t]
            )
            evidence[t, n] = x / least if is_mixture and table[t].own == 0 else x
    return evidence


@inlined
def replace_least(top, value):
    """Replace the least of the k best values, which is the first element of the heap `top`."""
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

    Returns the number of terms present, the last position near a term, and the bound of the sentences near no
    term.
    """
    ranges, counts, surrounding_counts = scoring.ranges, space.counts, space.surrounding_counts
    document, g, gains, m, last = commit.documents[batch.documents[j]], batch.owners[j], space.gains, 0, 0
    segment = commit.segments[g]
    far = bound_termless(scoring, document.shortest, document.longest)
    first, bits = document.first - segment.first_sentence, segment.count_bits
    before, high, count_mask = first - 1, (first + document.size) << bits, (1 << bits) - 1
    for t in range(len(ranges)):
        at = batch.document_postings[t, j]
        space.document_counts[t] = 0.0
        if at == ABSENT:
            continue
        space.present[m] = t
        m += 1
        count = space.document_counts[t] = read_column(segment.document_counts, at)
        if scoring.shape == MIXTURE:
            space.share[t] = count / max(document.length, 1)
        else:
            space.share[t] = count * field_worth(scoring.saturation.document, document.length)
        most = bound_far(scoring, space, t, document.shortest, document.longest)
        far += most
        impact = scoring.impacts[scoring.impact_offsets[t, g] + at]
        gain, last_position = max(space.weight[t] * impact - most, 0.0), NOWHERE
        gain_beside = gain if scoring.reads_surrounding else 0.0
        at, end = batch.sentence_postings[t, j], ranges[t, g].sentences_to
        while at < end:
            posting = read_column(segment.sentence_postings, at)
            if posting >= high:
                break
            position, count = (posting >> bits) - before, posting & count_mask
            counts[t, position] = count
            surrounding_counts[t, position - 1] += count
            surrounding_counts[t, position] += count
            surrounding_counts[t, position + 1] += count
            # A sentence near two occurrences gains once.
            gains[position - 1] += gain_beside * (last_position < position - 2)
            gains[position] += gain_beside * (last_position < position - 1) + (gain - gain_beside)
            gains[position + 1] += gain_beside
            last_position = position
            last = max(last, position + 1)
            at += 1
    return m, last, far


@inlined
def clear(space, m, last):
    """Clear the workspace after `lay_out`, given its number of terms and its last position."""
    for position in range(last + 1):
        space.gains[position] = 0.0
    for n in range(m):
        t = space.present[n]
        for position in range(last + 1):
            space.counts[t, position] = 0.0
            space.surrounding_counts[t, position] = 0.0


@inlined
def is_candidate(candidates, space, position):
    """Whether a sentence is a candidate by the rule. The rule takes its document."""
    if candidates == DOCUMENT_LEVEL:
        return True
    for t in range(len(space.own)):
        with_neighbours = candidates == SURROUNDING
        count = space.surrounding_counts[t, position] if with_neighbours else space.counts[t, position]
        if space.own[t] and count > 0:
            return True
    return False


@inlined
def has_bit(bits, n):
    """Whether a bit set has a member."""
    return (bits[n >> 6] >> np.uint64(n & 63)) & np.uint64(1) != 0


@inlined
def list_positions(scoring, filled, space, begin, size, has_termless, least_gain):
    """List the positions from 1 to `size` of candidates with at least this gain. Returns their number.

    `filled` is the bit set of sentences with a term. `has_termless`: the document has others.
    """
    candidates, mask, scores = scoring.candidates, scoring.mask, scoring.static_scores
    gains, positions, n = space.gains, space.listed.positions, 0
    skips_termless = has_termless and scoring.needs_term
    if candidates == DOCUMENT_LEVEL and len(mask) == 0 and len(scores) == 0 and not skips_termless:
        for position in range(1, size + 1):
            # No branch: it would be hard to predict which positions are near a term.
            positions[n] = position
            n += gains[position] >= least_gain
        return n
    for position in range(1, size + 1):
        s = begin + position - 1
        if gains[position] < least_gain or (len(mask) > 0 and not mask[s]):
            continue
        if skips_termless and not has_bit(filled, s):
            continue
        if (len(scores) == 0 or scores[s] > NO_VALUE) and is_candidate(candidates, space, position):
            positions[n] = position
            n += 1
    return n


@inlined
def add_sentence(selection, used, s, value, space, i, length):
    """Append the listed sentence i to the selection, with the facts from which its evidence is computed.

    `length` is the length of its document.
    """
    listed, terms, facts = space.listed, len(space.weight), selection.facts
    position = listed.positions[i]
    selection.sentences[used], selection.values[used] = s, value
    for t in range(terms):
        facts[used, t] = space.counts[t, position]
        facts[used, terms + t] = space.surrounding_counts[t, position]
        facts[used, 2 * terms + t] = space.document_counts[t]
    facts[used, 3 * terms] = listed.lengths[i]
    facts[used, 3 * terms + 1] = listed.surrounding_lengths[i]
    facts[used, 3 * terms + 2] = length


@uncounted
def select_sentences(scoring, commit, batch, space, selection, used, at, end):
    """Score the sentences of the documents of a batch from `at` to before `end`.

    Sentences that may be in the top k are appended to the selection, which holds `used` sentences. Returns
    its new size, the first document for which there was no room, and the number of sentences scored. The
    workspace is left clear.
    """
    segments, documents, margin, top = commit.segments, commit.documents, scoring.margin, selection.top
    scores, upper_bounds = scoring.static_scores, scoring.static_bounds
    listed, room, valued = space.listed, len(selection.sentences), 0
    bits = listed.products.view(np.int64)
    for j in range(at, end):
        if batch.bounds[j] < top[0]:
            continue
        d, segment = batch.documents[j], segments[batch.owners[j]]
        begin, size = documents[d].first, documents[d].size
        if used + size > room:
            return used, j, valued
        m, last, far = lay_out(scoring, commit, batch, j, space)
        least_gain = top[0] - (far + margin + (upper_bounds[d] if len(upper_bounds) else 0.0))
        # Far from all terms, the value depends only on the document and the sentence's length.
        with_rest = scoring.candidates == DOCUMENT_LEVEL and least_gain <= 0
        end_position = size if with_rest else min(last, size)
        has_termless = documents[d].shortest == 0
        n = list_positions(scoring, commit.filled, space, begin, end_position, has_termless, least_gain)
        valued += n
        value_sentences(scoring, segment.lengths, space, m, n, begin - segment.first_sentence, size)
        for i in range(n):
            s, total = begin + listed.positions[i] - 1, listed.totals[i] + margin
            if len(scores):
                total += scores[s]
            # Most values are far below the k-th: a bound saves computing their logarithms.
            if listed.products[i] < np.inf and total + bound_logarithm(bits[i]) < top[0]:
                continue
            value = total + sum_logarithms(space, m, i)
            if value >= top[0]:
                add_sentence(selection, used, s, value, space, i, documents[d].length)
                used += 1
                if value - margin > top[0]:
                    replace_least(top, value - margin)
        clear(space, m, last)
    return used, end, valued


LINE = 64
"""Bytes in a cache line."""
MAX_PREFETCHED = 1 << 16
"""Size in bytes above which a term's postings are not prefetched."""


@inlined
def prefetch_numbers(column, begin, end):
    """Prefetch a range of a column, unless it is too long."""
    address, width = column.address, column.width
    if width * (end - begin) <= MAX_PREFETCHED:
        for line in range(address + width * begin, address + width * end, LINE):
            prefetch(line)


@uncounted
def prefetch_postings(segments, ranges):
    """Prefetch the postings of all terms, before those of some documents are searched."""
    for t in range(len(ranges)):
        for g in range(len(segments)):
            ends, segment = ranges[t, g], segments[g]
            prefetch_numbers(segment.sentence_postings, ends.sentences_from, ends.sentences_to)
            prefetch_numbers(segment.document_counts, ends.documents_from, ends.documents_to)


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
        lengths = segments[g].lengths
        for i in range(members):
            first = records[documents[batch.members[i]]].first - segments[g].first_sentence
            prefetch(lengths.address + lengths.width * first)
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
    """Find a term's document postings, ABSENT for documents without the term."""
    numbers, base, end = (
        commit.segments[g].document_numbers,
        commit.document_bases[g],
        ranges[t, g].documents_to,
    )
    for i in range(members):
        batch.wanted[i] = batch.documents[batch.members[i]] - base
    lower_bounds(numbers, ranges[t, g].documents_from, end, batch.wanted[:members], batch.found)
    for i in range(members):
        at = batch.found[i]
        is_present = at < end and read_column(numbers, at) == batch.wanted[i]
        batch.document_postings[t, batch.members[i]] = at if is_present else ABSENT


@inlined
def locate_in_sentences(commit, ranges, batch, t, g, members):
    """Find a term's first sentence posting in each document that has the term."""
    segment, documents, n = commit.segments[g], commit.documents, 0
    counts, shift, bits = segment.document_counts, segment.first_sentence, segment.count_bits
    for i in range(members):
        j = batch.members[i]
        at = batch.document_postings[t, j]
        batch.having[n] = j
        batch.wanted[n] = (documents[batch.documents[j]].first - shift) << bits
        if at != ABSENT:
            prefetch(counts.address + counts.width * at)
        n += at != ABSENT
    low, high = ranges[t, g].sentences_from, ranges[t, g].sentences_to
    lower_bounds(segment.sentence_postings, low, high, batch.wanted[:n], batch.found)
    for i in range(n):
        batch.sentence_postings[t, batch.having[i]] = batch.found[i]


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
    one of them.
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
