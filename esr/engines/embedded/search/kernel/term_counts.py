"""How many sentences have any or all of some terms, by their postings alone."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.columns import column_number, lower_bound
from esr.engines.embedded.search.kernel.counting import NONE, ONE, count_bits
from esr.engines.embedded.search.kernel.layout import (
    COUNT_BITS,
    FIRST_SENTENCE,
    SENTENCE_POSTINGS,
    SENTENCES_FROM,
    SENTENCES_TO,
)
from esr.engines.embedded.search.kernel.numba_support import eager_jit
from esr.engines.embedded.search.kernel.signatures import LONG_CUBE, LONG_TABLE, WORDS


@eager_jit(LONG_CUBE, LONG_TABLE, WORDS, WORDS)
def count_any(ranges, segments, allowed, marks):
    """How many sentences have at least one of the terms.

    `ranges` are their posting ranges, as in `Terms`; `segments` those of `Commit`. `allowed` has a bit for
    each sentence that counts, and is empty where all do. `marks` has one for each sentence, 0, as it is left.
    """
    for g in range(len(segments)):
        first, bits = segments[g, FIRST_SENTENCE], segments[g, COUNT_BITS]
        for t in range(len(ranges)):
            for at in range(ranges[t, g, SENTENCES_FROM], ranges[t, g, SENTENCES_TO]):
                s = first + (column_number(segments, g, SENTENCE_POSTINGS, at) >> bits)
                marks[s >> 6] |= ONE << np.uint64(s & 63)
    total = 0
    for n in range(len(marks)):
        word = marks[n]
        marks[n] = NONE
        total += count_bits(word & allowed[n] if len(allowed) else word)
    return total


@eager_jit(LONG_CUBE, LONG_TABLE, WORDS)
def count_all(ranges, segments, allowed):
    """How many sentences have every term. The first should be the rarest. `ranges` is written to."""
    total = 0
    for g in range(len(segments)):
        first, bits = segments[g, FIRST_SENTENCE], segments[g, COUNT_BITS]
        for at in range(ranges[0, g, SENTENCES_FROM], ranges[0, g, SENTENCES_TO]):
            number = column_number(segments, g, SENTENCE_POSTINGS, at) >> bits
            s, t = first + number, 1
            if len(allowed) and (allowed[s >> 6] >> np.uint64(s & 63)) & ONE == NONE:
                continue
            while t < len(ranges):
                low, end = ranges[t, g, SENTENCES_FROM], ranges[t, g, SENTENCES_TO]
                low = lower_bound(segments, g, SENTENCE_POSTINGS, low, end, number << bits)
                ranges[t, g, SENTENCES_FROM] = low  # the next sentence comes later
                if low == end or column_number(segments, g, SENTENCE_POSTINGS, low) >> bits != number:
                    break
                t += 1
            total += t == len(ranges)
    return total
