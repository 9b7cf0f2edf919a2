"""How many sentences match a query, counted by bits without scores."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.columns import column_number
from esr.engines.embedded.search.kernel.layout import (
    COUNT_BITS,
    DOCUMENT_OF,
    FIRST_DOCUMENT,
    FIRST_SENTENCE,
    OWN,
    SENTENCE_POSTINGS,
    SENTENCES_FROM,
    SENTENCES_TO,
    SURROUNDING,
)
from esr.engines.embedded.search.kernel.numba_support import inlined, uncounted

NONE, ONE, LAST = np.uint64(0), np.uint64(1), np.uint64(63)
PAIRS, FOURS, EIGHTS, SUM = (
    np.uint64(n) for n in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)


@inlined
def count_bits(word):
    """How many bits of a word are 1."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
    word = (word + (word >> np.uint64(4))) & EIGHTS
    return np.int64((word * SUM) >> np.uint64(56))


@inlined
def mark_sentences(terms, commit, mask, marks):
    """Set the bits of the sentences that hold an own term, in documents that the mask lets through."""
    segments, ranges, table = commit.segments, terms.posting_ranges, terms.table
    for g in range(len(segments)):
        first, first_document = segments[g, FIRST_SENTENCE], segments[g, FIRST_DOCUMENT]
        bits = segments[g, COUNT_BITS]
        for t in range(len(table)):
            if table[t, OWN] == 0:
                continue
            for at in range(ranges[t, g, SENTENCES_FROM], ranges[t, g, SENTENCES_TO]):
                s = column_number(segments, g, SENTENCE_POSTINGS, at) >> bits
                if len(mask) and not mask[first_document + column_number(segments, g, DOCUMENT_OF, s)]:
                    continue
                marks[(first + s) >> 6] |= ONE << np.uint64((first + s) & 63)


@uncounted
def count_matches(rule, terms, commit, scores, filters, marks):
    """How many sentences hold an own term, or by the rule have a neighbour in their document that does.

    Those count that the filters let through and that have a value: `scores` is empty, or -inf where there is
    none. `marks` has a bit for each sentence, 0, as it is left.
    """
    with_neighbours, begins, allowed = rule.candidates == SURROUNDING, commit.begins, filters.sentence_bits
    mark_sentences(terms, commit, filters.documents, marks)
    total, before = 0, NONE
    for n in range(len(marks)):
        word = matches = marks[n]
        marks[n] = NONE
        if with_neighbours:
            # A neighbour is none beyond the border of a document.
            after = marks[n + 1] & ~begins[n + 1] if n + 1 < len(marks) else NONE
            matches |= ((word << ONE) | (before >> LAST)) & ~begins[n]
            matches |= ((word & ~begins[n]) >> ONE) | (after << LAST)
            before = word
        if len(allowed):
            matches &= allowed[n]
        if len(scores) == 0:
            total += count_bits(matches)
        elif matches != NONE:
            for bit in range(64):
                if (matches >> np.uint64(bit)) & ONE != NONE:
                    total += scores[64 * n + bit] > -np.inf
    return total
