"""Documents: their terms are laid out, and their sentences that may be among the k best are selected."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.columns import column_number
from esr.engines.embedded.search.kernel.heap import replace_least
from esr.engines.embedded.search.kernel.layout import (
    COUNT_BITS,
    DOCUMENT_COUNTS,
    DOCUMENT_LEVEL,
    FIRST,
    FIRST_SENTENCE,
    LENGTH,
    LONGEST,
    MIXTURE,
    SENTENCE_POSTINGS,
    SENTENCES_TO,
    SHORTEST,
    SIZE,
    SURROUNDING,
)
from esr.engines.embedded.search.kernel.numba_support import inlined, uncounted
from esr.engines.embedded.search.kernel.score import (
    bound_far,
    bound_logarithm,
    bound_termless,
    sum_logarithms,
    value_sentences,
)


@inlined
def lay_out(scoring, commit, batch, j, space):
    """Fill the workspace with a document.

    Gives how many terms are present, the last place near one, and the most that a sentence near none has.
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
            # Near two occurrences, a sentence is lifted once.
            lifts[place - 1] += lift_beside * (before_place < place - 2)
            lifts[place] += lift_beside * (before_place < place - 1) + (lift - lift_beside)
            lifts[place + 1] += lift_beside
            before_place = place
            last = max(last, place + 1)
            at += 1
    return m, last, far


@inlined
def clear(space, m, last):
    """Leave the workspace as it was before the document."""
    for place in range(last + 1):
        space.lifts[place] = 0.0
    for n in range(m):
        t = space.present[n]
        for place in range(last + 1):
            space.counts[t, place] = 0.0
            space.around[t, place] = 0.0


@inlined
def is_candidate(candidates, space, place):
    """Whether the rule takes a sentence of a document that it reaches."""
    if candidates == DOCUMENT_LEVEL:
        return True
    for t in range(len(space.own)):
        count = space.around[t, place] if candidates == SURROUNDING else space.counts[t, place]
        if space.own[t] and count > 0:
            return True
    return False


@inlined
def list_places(scoring, space, begin, size, least_lift):
    """List the places from 1 to `size` that are valued, those with such a lift. Gives their number."""
    candidates, mask, scores = scoring.candidates, scoring.mask, scoring.static_scores
    lifts, places, n = space.lifts, space.listed.places, 0
    if candidates == DOCUMENT_LEVEL and len(mask) == 0 and len(scores) == 0:
        for place in range(1, size + 1):
            # No branch: which places are near a term is hard to foresee.
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
    """Add a listed sentence to the selection, with what its evidence is computed from.

    `length` is that of its document.
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
    """Value the sentences of documents of a batch, from `at` to before `end`.

    Those that may be among the k best are added to the selection, which has `used` sentences. Gives how many
    it has then, the first document for which it has no room, and how many sentences were valued. The
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
        # Far from the terms, a sentence has what the document and its length give.
        with_rest = scoring.candidates == DOCUMENT_LEVEL and least_lift <= 0
        n = list_places(scoring, space, begin, size if with_rest else min(last, size), least_lift)
        valued += n
        value_sentences(scoring, segments, g, space, m, n, begin - segments[g, FIRST_SENTENCE], size)
        for i in range(n):
            s, total = begin + listed.places[i] - 1, listed.totals[i] + margin
            if len(scores):
                total += scores[s]
            # Most values are far below the k-th: this spares their logarithms.
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
