"""Which sentences have a word of several, from the encoded places of these (`segments.store.elias_fano`)."""

from __future__ import annotations

from numba import types

from esr.engines.embedded.search.kernel.numba_support import eager_jit
from esr.engines.embedded.search.kernel.signatures import INTS, LONG, LONGS, MASK

BYTES = types.Array(types.uint8, 1, "C", readonly=True)


@eager_jit(MASK, BYTES, LONG, LONG, LONG, LONG, LONG, LONGS, LONGS, INTS, LONG)
def mark_places(
    mask, content, low_bits, steps, unary, first, before, lengths, starts, block_sentences, block_bits
):
    """Set the mask of each sentence that has a place of the lists. Places in titles are in none.

    `starts` has the first place of each sentence and that behind the last, `block_sentences` the sentence
    that has the first place of each block. The rest is as in `EncodedLists`.
    """
    end, start, number, low_mask = starts[len(mask)], before + first * steps, before, (1 << low_bits) - 1
    for length in lengths:
        bit, high, left = start, 0, length
        while left > 0:
            if (content[unary + (bit >> 3)] >> (bit & 7)) & 1:
                at, window = number * low_bits, 0
                for n in range(4):
                    window |= content[(at >> 3) + n] << (8 * n)
                place = high << low_bits | (window >> (at & 7)) & low_mask
                if place < end:
                    s = block_sentences[place >> block_bits]
                    while starts[s + 1] <= place:
                        s += 1
                    mask[s] = True
                number += 1
                left -= 1
            else:
                high += 1
            bit += 1
        start += length + steps
