"""Counts without scores: sentences that match a query, by bit sets or posting lists.

Also marks the sentences of words, from their encoded positions (`esr.folder.format.words`).
"""

from __future__ import annotations

import numpy as np

from esr.folder.kernel.columns import (
    bits_32_at,
    bits_64_at,
    count_trailing_zeros,
    lower_bound,
    read_column,
    view_ranges,
)
from esr.folder.kernel.layout import NO_VALUE, SURROUNDING
from esr.folder.kernel.numba_support import (
    LONG,
    LONGS,
    MASK,
    POSITION_LISTS,
    SEGMENTS,
    SENTENCE_POSITIONS,
    WORDS,
    eager_jit,
    inlined,
    uncounted,
)

NONE, ONE, LAST = np.uint64(0), np.uint64(1), np.uint64(63)
PAIRS, FOURS, EIGHTS, SUM = (
    np.uint64(n) for n in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)


@inlined
def count_bits(word):
    """The number of bits of a word that are 1."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
    word = (word + (word >> np.uint64(4))) & EIGHTS
    return np.int64((word * SUM) >> np.uint64(56))


@inlined
def mark_sentences(terms, commit, mask, marks):
    """Set the bits of the sentences that contain an own term, in documents that pass the mask."""
    table, ranges = terms.table, terms.ranges
    for g in range(len(commit.segments)):
        segment = commit.segments[g]
        first, bits = segment.first_sentence, segment.count_bits
        for t in range(len(table)):
            if table[t].own == 0:
                continue
            for at in range(ranges[t, g].sentences_from, ranges[t, g].sentences_to):
                s = read_column(segment.sentence_postings, at) >> bits
                if len(mask) and not mask[segment.first_document + read_column(segment.document_of, s)]:
                    continue
                marks[(first + s) >> 6] |= ONE << np.uint64((first + s) & 63)


@uncounted
def count_matches(rule, terms, commit, scores, filters, marks):
    """Count sentences that contain an own term or, if the rule says so, have a neighbour that does.

    Only sentences that pass the filters and have a value are counted. `scores` is NO_VALUE for sentences
    without a value, and empty if all have one. `marks` is a bit set of sentences, empty before and after.
    """
    with_neighbours, begins, allowed = rule.candidates == SURROUNDING, commit.begins, filters.sentence_bits
    mark_sentences(terms, commit, filters.documents, marks)
    total, before = 0, NONE
    for n in range(len(marks)):
        word = matches = marks[n]
        marks[n] = NONE
        if with_neighbours:
            # Neighbours are in the same document.
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
                    total += scores[64 * n + bit] > NO_VALUE
    return total


@eager_jit(LONGS, SEGMENTS, WORDS, WORDS)
def count_any(numbers, segments, allowed, marks):
    """Count sentences with at least one of the terms.

    `numbers` are those of RANGES, `segments` those of `Commit`. `allowed` is a bit set of the sentences to
    count, empty for all. `marks` is a bit set of sentences, empty before and after.
    """
    ranges = view_ranges(numbers, len(segments))
    for g in range(len(segments)):
        segment = segments[g]
        first, bits = segment.first_sentence, segment.count_bits
        for t in range(len(ranges)):
            for at in range(ranges[t, g].sentences_from, ranges[t, g].sentences_to):
                s = first + (read_column(segment.sentence_postings, at) >> bits)
                marks[s >> 6] |= ONE << np.uint64(s & 63)
    total = 0
    for n in range(len(marks)):
        word = marks[n]
        marks[n] = NONE
        total += count_bits(word & allowed[n] if len(allowed) else word)
    return total


@eager_jit(LONGS, SEGMENTS, WORDS)
def count_all(numbers, segments, allowed):
    """Count sentences with all terms, of which the first should be the rarest. Modifies the ranges."""
    ranges, total = view_ranges(numbers, len(segments)), 0
    for g in range(len(segments)):
        segment = segments[g]
        postings, bits = segment.sentence_postings, segment.count_bits
        for at in range(ranges[0, g].sentences_from, ranges[0, g].sentences_to):
            number = read_column(postings, at) >> bits
            s, t = segment.first_sentence + number, 1
            if len(allowed) and (allowed[s >> 6] >> np.uint64(s & 63)) & ONE == NONE:
                continue
            while t < len(ranges):
                end = ranges[t, g].sentences_to
                low = lower_bound(postings, ranges[t, g].sentences_from, end, number << bits)
                ranges[t, g].sentences_from = low  # the next sentence comes later
                if low == end or read_column(postings, low) >> bits != number:
                    break
                t += 1
            total += t == len(ranges)
    return total


@inlined
def unary_bits(content, byte):
    """The 64 bits from this byte on, 0 after the end of the content."""
    if byte + 8 <= len(content):
        return bits_64_at(content.ctypes.data + byte)
    word = np.uint64(0)
    for n in range(byte, len(content)):
        word |= np.uint64(content[n]) << np.uint64(8 * (n - byte))
    return word


@eager_jit(MASK, LONG, LONG, POSITION_LISTS, SENTENCE_POSITIONS)
def mark_positions(mask, first_word, end_word, lists, sentences):
    """Set the mask of the sentences that contain one of these words. Positions in titles are ignored.

    `lists` is a `PositionLists`. `sentences` holds the first position of each sentence and the end of the
    last, the sentence of the first position in each block, and log2 of the block size.
    """
    content, begins, unary, limit, group, rank, before, counts = lists
    starts, block_sentences, block_bits = sentences
    end = starts[len(mask)]
    for w in range(first_word, end_word):
        low_bits, number, left = np.int64(group[w]), before[w], counts[w]
        low_address, low_mask = content.ctypes.data + begins[low_bits], (1 << low_bits) - 1
        bit = number + rank[w] * ((limit >> low_bits) + 1)
        # Each number is a 1 in the unary part; the zeros before it are its high bits.
        zeros = -bit
        while left > 0:
            word = unary_bits(content, unary[low_bits] + (bit >> 3)) >> np.uint64(bit & 7)
            while word != 0 and left > 0:
                at = number * low_bits
                low = (np.int64(bits_32_at(low_address + (at >> 3))) >> (at & 7)) & low_mask
                position = (zeros + bit + np.int64(count_trailing_zeros(word))) << low_bits | low
                if position < end:
                    s = block_sentences[position >> block_bits]
                    while starts[s + 1] <= position:
                        s += 1
                    mask[s] = True
                word &= word - np.uint64(1)
                number, left, zeros = number + 1, left - 1, zeros - 1
            bit += 64 - (bit & 7)
