"""Which sentences have a word of several, from the encoded places of these (`segments.store.elias_fano`)."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.columns import bits_32_at, bits_64_at
from esr.engines.embedded.search.kernel.instructions import count_trailing_zeros
from esr.engines.embedded.search.kernel.numba_support import eager_jit, inlined
from esr.engines.embedded.search.kernel.signatures import LONG, MASK, PLACE_LISTS, SENTENCE_PLACES


@inlined
def unary_bits(content, byte):
    """The 64 bits from this byte on, 0 behind the last byte."""
    if byte + 8 <= len(content):
        return bits_64_at(content.ctypes.data + byte)
    word = np.uint64(0)
    for n in range(byte, len(content)):
        word |= np.uint64(content[n]) << np.uint64(8 * (n - byte))
    return word


@eager_jit(MASK, LONG, LONG, PLACE_LISTS, SENTENCE_PLACES)
def mark_places(mask, first_word, end_word, lists, sentences):
    """Set the mask of each sentence that has one of these words. Places in titles are in none.

    `lists` is a `PlaceLists`. `sentences` has the first place of each sentence and that behind the last; the
    sentence that has the first place of each block; and how many bits a place in a block has.
    """
    content, begins, unary, limit, group, rank, before, counts = lists
    starts, block_sentences, block_bits = sentences
    end = starts[len(mask)]
    for w in range(first_word, end_word):
        low_bits, number, left = np.int64(group[w]), before[w], counts[w]
        low_address, low_mask = content.ctypes.data + begins[low_bits], (1 << low_bits) - 1
        bit = number + rank[w] * ((limit >> low_bits) + 1)
        # A number is a 1 of the unary part; the zeros before it are what it has above its low bits.
        zeros = -bit
        while left > 0:
            word = unary_bits(content, unary[low_bits] + (bit >> 3)) >> np.uint64(bit & 7)
            while word != 0 and left > 0:
                at = number * low_bits
                low = (np.int64(bits_32_at(low_address + (at >> 3))) >> (at & 7)) & low_mask
                place = (zeros + bit + np.int64(count_trailing_zeros(word))) << low_bits | low
                if place < end:
                    s = block_sentences[place >> block_bits]
                    while starts[s + 1] <= place:
                        s += 1
                    mask[s] = True
                word &= word - np.uint64(1)
                number, left, zeros = number + 1, left - 1, zeros - 1
            bit += 64 - (bit & 7)
