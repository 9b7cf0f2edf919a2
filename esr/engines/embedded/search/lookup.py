"""What compiled searches look up: how many sentences hold a term, and the evidence for the best."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.layout import (
    BACKGROUND,
    DOCUMENT_OF,
    DOCUMENTS,
    ENTRIES,
    ENTRY_COUNTS,
    FIRST,
    LENGTHS,
    MIXTURE,
    OWN,
    ROW_COUNTS,
    ROWS,
    SENTENCES,
    SIZE,
    TERMS,
)
from esr.engines.embedded.search.machine import (
    DOUBLE_TABLE,
    DOUBLES,
    FLAG,
    FLAGS,
    FLOATS,
    LONG,
    LONG_CUBE,
    LONG_TABLE,
    LONGS,
    OUT_TABLE,
    OUT_WORDS,
    RECORDS,
    WORDS,
    at_place,
    compiled,
    first_from,
    inlined,
)

NONE, ONE, LAST = np.uint64(0), np.uint64(1), np.uint64(63)
PAIRS, FOURS, EIGHTS, SUM = (
    np.uint64(n) for n in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)


@inlined
def _bits(word):
    """How many bits of a word are 1."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
    word = (word + (word >> np.uint64(4))) & EIGHTS
    return np.int64((word * SUM) >> np.uint64(56))


@inlined
def _shares(shape, transform, lengths, shares, at):
    """What one occurrence in each field is worth in a sentence, and of a mixture the collection's part."""
    if shape == MIXTURE:
        mu = transform[0]
        beta = 0.0 if mu == 0 else mu / (lengths[0] + mu)
        for field in range(3):
            share = transform[1 + 2 * field] + transform[2 + 2 * field] * beta
            shares[field, at] = share / max(lengths[field], 1.0)
        shares[3, at] = transform[7] + transform[8] * beta
    else:
        for field in range(3):
            share, b, average = transform[1 + 3 * field], transform[2 + 3 * field], transform[3 + 3 * field]
            norm = 1.0 - b + b * lengths[field] / average
            shares[field, at] = share / (norm if norm > 0 else 1.0)
        shares[3, at] = 0.0


@compiled(LONG_CUBE, LONG_TABLE, DOUBLE_TABLE, FLAGS, FLOATS, FLAG, WORDS, OUT_WORDS)
def holding(cuts, segments, table, passing, adds, around, begins, marks):
    """How many sentences hold an own term, or by `around` stand beside one that does, of those that pass and
    have a value. `begins` and `marks` have a bit for each sentence: whether a document begins with it, and 0,
    as they are left."""
    for g in range(len(segments)):
        shift, shift_of_documents = segments[g, SENTENCES], segments[g, DOCUMENTS]
        for t in range(len(table)):
            if table[t, OWN] == 0:
                continue
            for row in range(cuts[t, g, 0], cuts[t, g, 1]):
                s = at_place(segments, g, ROWS, row)
                if len(passing) and not passing[shift_of_documents + at_place(segments, g, DOCUMENT_OF, s)]:
                    continue
                marks[(shift + s) >> 6] |= ONE << np.uint64((shift + s) & 63)
    total, before = 0, NONE
    for n in range(len(marks)):
        word = found = marks[n]
        marks[n] = NONE
        if around:
            # A neighbour is none beyond the border of a document.
            after = marks[n + 1] & ~begins[n + 1] if n + 1 < len(marks) else NONE
            found |= ((word << ONE) | (before >> LAST)) & ~begins[n]
            found |= ((word & ~begins[n]) >> ONE) | (after << LAST)
            before = word
        if len(adds) == 0:
            total += _bits(found)
        elif found != NONE:
            for bit in range(64):
                if (found >> np.uint64(bit)) & ONE != NONE:
                    total += adds[64 * n + bit] > -np.inf
    return total


@compiled(LONG, DOUBLES, DOUBLE_TABLE, LONGS, LONG_CUBE, LONG_TABLE, RECORDS, OUT_TABLE)
def evidence(shape, transform, table, at, cuts, segments, records, found):
    """What `esr.plans.evaluate.of_terms` gives for these sentences, ascending, to the last digit: so each
    number is made by the same steps. Into `found`, of shape (T, n)."""
    documents, lengths, shares = np.empty(len(at), np.int64), np.empty(3), np.empty((4, len(at)))
    begin = 0
    for g in range(len(segments)):
        shift, shift_of_documents = segments[g, SENTENCES], segments[g, DOCUMENTS]
        end = begin
        while end < len(at) and (g + 1 == len(segments) or at[end] < segments[g + 1, SENTENCES]):
            s = at[end]
            d = documents[end] = shift_of_documents + at_place(segments, g, DOCUMENT_OF, s - shift)
            low, high = max(s - 1, records[d, FIRST]), min(s + 1, records[d, FIRST] + records[d, SIZE] - 1)
            lengths[0], lengths[1] = at_place(segments, g, LENGTHS, s - shift), 0
            lengths[2] = records[d, TERMS]
            for beside in range(low, high + 1):
                lengths[1] += at_place(segments, g, LENGTHS, beside - shift)
            _shares(shape, transform, lengths, shares, end)
            end += 1
        for t in range(len(cuts)):
            row, entry = cuts[t, g, 0], cuts[t, g, 2]
            for n in range(begin, end):
                s, d = at[n], documents[n]
                low, high = (
                    max(s - 1, records[d, FIRST]),
                    min(s + 1, records[d, FIRST] + records[d, SIZE] - 1),
                )
                row = first_from(segments, g, ROWS, row, cuts[t, g, 1], low - shift)
                here, around, wide, beside = 0, 0, 0, row
                while beside < cuts[t, g, 1] and at_place(segments, g, ROWS, beside) <= high - shift:
                    count = at_place(segments, g, ROW_COUNTS, beside)
                    around += count
                    if at_place(segments, g, ROWS, beside) == s - shift:
                        here = count
                    beside += 1
                entry = first_from(segments, g, ENTRIES, entry, cuts[t, g, 3], d - shift_of_documents)
                if entry < cuts[t, g, 3] and at_place(segments, g, ENTRIES, entry) == d - shift_of_documents:
                    wide = at_place(segments, g, ENTRY_COUNTS, entry)
                least = shares[3, n] * table[t, BACKGROUND]
                x = least + shares[0, n] * here + shares[1, n] * around + shares[2, n] * wide
                found[t, n] = x if shape != MIXTURE or table[t, OWN] > 0 else x / least
        begin = end
