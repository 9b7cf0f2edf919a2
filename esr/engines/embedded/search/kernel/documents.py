"""One document: its terms are laid out, and its sentences that may be among the k best are selected."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.columns import column_number, lower_bound
from esr.engines.embedded.search.kernel.heap import replace_least
from esr.engines.embedded.search.kernel.layout import (
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
from esr.engines.embedded.search.kernel.numba_support import inlined, uncounted
from esr.engines.embedded.search.kernel.score import bound_without_terms, value_sentence


@inlined
def lay_out(scoring, commit, space, g, d):
    """Fill the workspace with a document. Gives how many terms are present, and the last place near one."""
    segments, records, ranges = commit.segments, commit.documents, scoring.posting_ranges
    shape, transform = scoring.shape, scoring.numbers
    present, share, counts, near = space.present, space.share, space.counts, space.near
    terms, m, last, local = len(share), 0, 0, d - commit.document_bases[g]
    first, size = records[d, FIRST] - segments[g, FIRST_SENTENCE], records[d, SIZE]
    bits, before = segments[g, COUNT_BITS], first - 1
    low, high, count_mask = first << bits, (first + size) << bits, (1 << bits) - 1
    for t in range(terms):
        end = ranges[t, g, DOCUMENTS_TO]
        at = lower_bound(segments, g, DOCUMENT_NUMBERS, ranges[t, g, DOCUMENTS_FROM], end, local)
        if at == end or column_number(segments, g, DOCUMENT_NUMBERS, at) != local:
            continue
        present[m] = t
        m += 1
        share[t] = column_number(segments, g, DOCUMENT_COUNTS, at)
        if shape == MIXTURE:
            share[t] /= max(records[d, LENGTH], 1)
        else:
            norm = 1.0 - transform[8] + transform[8] * records[d, LENGTH] / transform[9]
            share[t] *= transform[7] / (norm if norm > 0 else 1.0)
        end = ranges[t, g, SENTENCES_TO]
        at = lower_bound(segments, g, SENTENCE_POSTINGS, ranges[t, g, SENTENCES_FROM], end, low)
        while at < end:
            posting = column_number(segments, g, SENTENCE_POSTINGS, at)
            if posting >= high:
                break
            place = (posting >> bits) - before
            counts[place * terms + t] = posting & count_mask
            near[place - 1] = near[place] = near[place + 1] = True
            last = max(last, place + 1)
            at += 1
    return m, last


@inlined
def is_candidate(candidates, mask, own, counts, at, s):
    """Whether the mask and the rule take a sentence of a document that they reach."""
    if len(mask) > 0 and not mask[s]:
        return False
    if candidates == DOCUMENT_LEVEL:
        return True
    terms = len(own)
    for t in range(terms):
        if own[t]:
            count = counts[at + t]
            if candidates == SURROUNDING:
                count += counts[at - terms + t] + counts[at + terms + t]
            if count > 0:
                return True
    return False


@uncounted
def select_sentences(scoring, commit, statics, mask, space, selection, used, d):
    """Value the sentences of a document. Those that may be among the k best are added to the selection.

    `used` sentences are selected already. Gives how many there are then, and how many sentences were valued.
    `space.counts` (0) and `space.near` (False) are left as they came.
    """
    segments, records, bases = commit.segments, commit.documents, commit.document_bases
    candidates, margin, scores = scoring.candidates, scoring.margin, statics.scores
    own, counts, near = space.own, space.counts, space.near
    sentences, values, top = selection.sentences, selection.values, selection.top
    terms, valued, g = len(own), 0, 0
    while bases[g + 1] <= d:
        g += 1
    m, last = lay_out(scoring, commit, space, g, d)
    begin, size = records[d, FIRST], records[d, SIZE]
    with_rest = candidates == DOCUMENT_LEVEL
    if with_rest:
        # Far from the terms, a sentence has what the document and its length give.
        bound = margin + bound_without_terms(scoring, space, m, records[d, SHORTEST], records[d, LONGEST])
        with_rest = bound + (statics.upper_bounds[d] if len(statics.upper_bounds) else 0.0) >= top[0]
    for place in range(1, (size if with_rest else min(last, size)) + 1):
        if not (near[place] or with_rest):
            continue
        s, local = begin + place - 1, begin + place - 1 - segments[g, FIRST_SENTENCE]
        if not is_candidate(candidates, mask, own, counts, place * terms, s):
            continue
        value = margin
        if len(scores):
            value += scores[s]
            if value == -np.inf:
                continue
        length = around = column_number(segments, g, LENGTHS, local)
        if place > 1:
            around += column_number(segments, g, LENGTHS, local - 1)
        if place < size:
            around += column_number(segments, g, LENGTHS, local + 1)
        value += value_sentence(scoring, space, m, place * terms if near[place] else 0, length, around)
        valued += 1
        if value >= top[0]:
            sentences[used], values[used] = s, value
            used += 1
            if value - margin > top[0]:
                replace_least(top, value - margin)
    for place in range(last + 1):
        if near[place]:
            near[place] = False
            for t in range(terms):
                counts[place * terms + t] = 0.0
    return used, valued
