"""What compiled searches look up: how many sentences hold a term, and the evidence for the best."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.layout import (
    DOCUMENT_OF,
    DOCUMENTS,
    ENTRIES,
    ENTRY_COUNTS,
    FIRST,
    LENGTHS,
    OWN,
    ROW_COUNTS,
    ROWS,
    SENTENCES,
    SIZE,
    TERMS,
)
from esr.engines.embedded.machine import (
    DOUBLE_TABLE,
    FLAGS,
    FLOATS,
    LONG,
    LONG_CUBE,
    LONG_TABLE,
    LONGS,
    OUT_CUBE,
    OUT_FLAGS,
    OUT_TABLE,
    RECORDS,
    at_place,
    compiled,
    first_from,
)


@compiled(LONG_CUBE, LONG_TABLE, RECORDS, DOUBLE_TABLE, FLAGS, FLOATS, LONG, OUT_FLAGS)
def holding(cuts, segments, records, table, passing, adds, around, seen):
    """How many sentences hold an own term, or by `around` stand beside one that does, of those that pass and
    have a value. `seen` (False) is left as it came."""
    total = 0
    for g in range(len(segments)):
        for turn in range(2):
            for t in range(len(table)):
                if table[t, OWN] == 0:
                    continue
                for row in range(cuts[t, g, 0], cuts[t, g, 1]):
                    s = at_place(segments, g, ROWS, row)
                    d = segments[g, DOCUMENTS] + at_place(segments, g, DOCUMENT_OF, s)
                    if len(passing) and not passing[d]:
                        continue
                    middle = segments[g, SENTENCES] + s
                    begin, end = records[d, FIRST], records[d, FIRST] + records[d, SIZE]
                    for s in range(max(middle - around, begin), min(middle + around + 1, end)):
                        if turn:
                            seen[s] = False
                        elif not seen[s]:
                            seen[s] = True
                            total += len(adds) == 0 or adds[s] > -np.inf
    return total


@compiled(LONGS, LONG_CUBE, LONG_TABLE, RECORDS, OUT_TABLE, OUT_CUBE)
def evidence(at, cuts, segments, records, lengths, counts):
    """Of these sentences, ascending: the terms in them, in their surroundings and in their documents, into
    `lengths` of shape (3, n); how many of those are each of the plan's, into `counts` of shape (3, T, n)."""
    documents, begin = np.empty(len(at), np.int64), 0
    for g in range(len(segments)):
        shift, shift_of_documents = segments[g, SENTENCES], segments[g, DOCUMENTS]
        end = begin
        while end < len(at) and (g + 1 == len(segments) or at[end] < segments[g + 1, SENTENCES]):
            s = at[end]
            d = documents[end] = shift_of_documents + at_place(segments, g, DOCUMENT_OF, s - shift)
            low, high = max(s - 1, records[d, FIRST]), min(s + 1, records[d, FIRST] + records[d, SIZE] - 1)
            lengths[0, end], lengths[1, end] = at_place(segments, g, LENGTHS, s - shift), 0
            for beside in range(low, high + 1):
                lengths[1, end] += at_place(segments, g, LENGTHS, beside - shift)
            lengths[2, end] = records[d, TERMS]
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
                here, around, beside = 0, 0, row
                while beside < cuts[t, g, 1] and at_place(segments, g, ROWS, beside) <= high - shift:
                    count = at_place(segments, g, ROW_COUNTS, beside)
                    around += count
                    if at_place(segments, g, ROWS, beside) == s - shift:
                        here = count
                    beside += 1
                entry = first_from(segments, g, ENTRIES, entry, cuts[t, g, 3], d - shift_of_documents)
                counts[0, t, n], counts[1, t, n], counts[2, t, n] = here, around, 0
                if entry < cuts[t, g, 3] and at_place(segments, g, ENTRIES, entry) == d - shift_of_documents:
                    counts[2, t, n] = at_place(segments, g, ENTRY_COUNTS, entry)
        begin = end
