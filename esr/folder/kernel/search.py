"""The compiled search of a commit and the other entry points of the kernel.

Importing this module compiles the kernel or loads it from numba's cache. Documents are scored in descending
order of their bounds until no remaining bound reaches the k-th value. Sentences whose values are within
rounding of the top k are selected; their exact scores are summed by the steps of `esr.plans.evaluate`.

Sentences that match a query are counted without scores, by bit sets or posting lists. The sentences of words
are marked from their encoded positions (`esr.folder.format.words`).
"""

from __future__ import annotations

import numpy as np

from esr.folder.kernel.bounds import (
    add_documents,
    add_impacts,
    are_all_own,
    best_evidence,
    bound_documents,
    mark_reached,
    offset_impacts,
    round_impacts,
)
from esr.folder.kernel.layout import (
    BATCH,
    DOCUMENT_LEVEL,
    NO_VALUE,
    SURROUNDING,
    TERM,
    Batch,
    Commit,
    Filters,
    Formula,
    Listed,
    Rule,
    Scoring,
    Scratch,
    Selection,
    StaticScores,
    Termless,
    Terms,
    Transform,
    Workspace,
)
from esr.folder.kernel.nearest import (
    LANES,
    bound_vectors,
    compute_bits,
    multiply_all,
    multiply_some,
    multiply_vectors,
)
from esr.folder.kernel.numba_support import (
    COMMIT,
    DOUBLE_TABLE,
    DOUBLES,
    FILTERS,
    LONG,
    LONGS,
    MASK,
    POSITION_LISTS,
    QUERY_TERMS,
    RULE,
    SCRATCH,
    SEGMENTS,
    SENTENCE_POSITIONS,
    STATIC_SCORES,
    TRANSFORM,
    WORDS,
    bits_32_at,
    bits_64_at,
    compiled,
    count_bits,
    count_trailing_zeros,
    eager_jit,
    inlined,
    lower_bound,
    read_column,
    uncounted,
    view_ranges,
)
from esr.folder.kernel.score import (
    compute_evidence,
    fill_batch,
    locate_postings,
    order_documents,
    prefetch_postings,
    reads_surrounding,
    select_sentences,
    take_documents,
)

NONE, ONE, LAST = np.uint64(0), np.uint64(1), np.uint64(63)


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

    Only sentences that contain a term, pass the filters and have a value are counted. `scores` is NO_VALUE
    for sentences without a value, and empty if all have one. `marks` is a bit set of sentences, empty before
    and after.
    """
    with_neighbours, begins, allowed = rule.candidates == SURROUNDING, commit.begins, filters.sentence_bits
    mark_sentences(terms, commit, filters.documents, marks)
    total, before = np.int64(0), NONE
    for n in range(len(marks)):
        word = matches = marks[n]
        marks[n] = NONE
        if with_neighbours:
            # Neighbours are in the same document.
            after = marks[n + 1] & ~begins[n + 1] if n + 1 < len(marks) else NONE
            matches |= ((word << ONE) | (before >> LAST)) & ~begins[n]
            matches |= ((word & ~begins[n]) >> ONE) | (after << LAST)
            matches &= commit.filled[n]
            before = word
        if len(allowed):
            matches &= allowed[n]
        if len(scores) == 0:
            total += np.int64(count_bits(matches))
        elif matches != NONE:
            for bit in range(64):
                if (matches >> np.uint64(bit)) & ONE != NONE:
                    total += scores[64 * n + bit] > NO_VALUE
    return total


@eager_jit(LONGS, SEGMENTS, WORDS, WORDS)
def count_any(numbers, segments, allowed, marks):
    """Count sentences with at least one of the terms.

    `numbers` are those of RANGES, `segments` those of `Commit`. `allowed` is a bit set of the sentences to
    count, of length 0 for all. `marks` is a bit set of sentences, empty before and after.
    """
    ranges = view_ranges(numbers, len(segments))
    for g in range(len(segments)):
        segment = segments[g]
        first, bits = segment.first_sentence, segment.count_bits
        for t in range(len(ranges)):
            for at in range(ranges[t, g].sentences_from, ranges[t, g].sentences_to):
                s = first + (read_column(segment.sentence_postings, at) >> bits)
                marks[s >> 6] |= ONE << np.uint64(s & 63)
    total = np.int64(0)
    for n in range(len(marks)):
        word = marks[n]
        marks[n] = NONE
        total += np.int64(count_bits(word & allowed[n] if len(allowed) else word))
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


# Search

POSITIONS, SELECTED = 64, 256
"""Initial capacity: positions of the largest document, and selected sentences."""


@inlined
def open_workspace(table):
    """Create a workspace for the terms of a plan, with room for small documents."""
    terms = len(table)
    weight, inverse, own = np.empty(terms), np.empty(terms), np.empty(terms, np.bool_)
    for t in range(terms):
        weight[t], inverse[t], own[t] = table[t].weight, 1.0 / table[t].background, table[t].own
    return Workspace(
        weight,
        inverse,
        own,
        np.zeros(terms, np.int64),
        np.zeros(terms),
        np.zeros(terms),
        np.zeros((terms, POSITIONS)),
        np.zeros((terms, POSITIONS)),
        np.zeros(POSITIONS),
        open_list(POSITIONS),
    )


@inlined
def enlarge(space, positions):
    """A clear workspace for the same terms, with room for this many positions."""
    terms = len(space.weight)
    return Workspace(
        space.weight,
        space.inverse_background,
        space.own,
        space.present,
        space.document_counts,
        space.share,
        np.zeros((terms, positions)),
        np.zeros((terms, positions)),
        np.zeros(positions),
        open_list(positions),
    )


@inlined
def open_list(size):
    """Allocate lists for the sentences of a document with `size` positions."""
    return Listed(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size),
    )


@inlined
def open_batch(terms):
    """Allocate a batch of documents."""
    documents, bounds, owners = np.empty(BATCH, np.int64), np.empty(BATCH), np.empty(BATCH, np.int64)
    in_documents, in_sentences = np.empty((terms, BATCH), np.int64), np.empty((terms, BATCH), np.int64)
    members, having = np.empty(BATCH + 1, np.int64), np.empty(BATCH + 1, np.int64)
    wanted, found = np.empty(BATCH + 1, np.int64), np.empty(BATCH + 1, np.int64)
    return Batch(documents, bounds, owners, in_documents, in_sentences, members, having, wanted, found)


@inlined
def open_selection(terms, k):
    """Allocate an empty selection."""
    facts = np.empty((SELECTED, 3 * terms + 3))
    return Selection(np.empty(SELECTED, np.int64), np.empty(SELECTED), facts, np.full(k, -np.inf))


@inlined
def compact(selection, used, room):
    """Drop sentences below the k-th value, and grow the selection if there is still too little room.

    Returns the selection and its number of sentences.
    """
    sentences, values, facts, least = selection.sentences, selection.values, selection.facts, selection.top[0]
    left = 0
    for n in range(used):
        if values[n] >= least:
            sentences[left], values[left] = sentences[n], values[n]
            facts[left] = facts[n]
            left += 1
    if 2 * left + room > len(sentences):
        size = 2 * len(sentences) + room
        more, more_values, more_facts = (
            np.empty(size, np.int64),
            np.empty(size),
            np.empty((size, facts.shape[1])),
        )
        more[:left], more_values[:left], more_facts[:left] = sentences[:left], values[:left], facts[:left]
        return Selection(more, more_values, more_facts, selection.top), left
    return selection, left


@compiled
def top_k(rule, transform, terms, commit, static_scores, filters, scratch):
    """Select the sentences that may be in the top k, in no particular order.

    Returns the selection, its size, the number of candidates if the rule takes whole documents, and the
    number of sentences scored.
    """
    formula, ranges = transform.formula, terms.ranges
    offsets = offset_impacts(terms, len(commit.segments))
    scoring = Scoring(
        rule.candidates,
        rule.needs_term,
        rule.margin,
        formula.shape,
        formula.saturation[0],
        transform.length_table,
        ranges,
        terms.termless,
        terms.impacts,
        offsets,
        reads_surrounding(formula.shape, formula.mixture[0], formula.saturation[0]),
        static_scores.upper_bounds,
        static_scores.scores,
        filters.sentences,
    )
    space, batch, selection = (
        open_workspace(terms.table),
        open_batch(len(ranges)),
        open_selection(len(ranges), rule.k),
    )
    prefetch_postings(commit.segments, ranges)
    reached, all_own = 0, are_all_own(rule, terms)
    for g in range(len(commit.segments)):
        reached = add_impacts(terms, commit, g, space.weight, offsets, scratch, reached)
        if not all_own:
            mark_reached(terms, commit, g, space.own, scratch)
    if rule.all_documents:
        reached = add_documents(terms, filters.documents, scratch, reached)
    total, size, threshold = bound_documents(
        rule, transform, terms, commit, static_scores, filters, scratch, reached
    )
    keys, documents, sizes, top = scratch.keys, scratch.documents, commit.sizes, selection.top
    used, valued, done, positions = 0, 0, 0, POSITIONS
    while done < size:
        # First the documents above the threshold, then all others that may still count.
        n, lowest, highest = take_documents(keys, documents, done, size, threshold)
        bounds, ordered = order_documents(keys[done : done + n], documents[done : done + n], lowest, highest)
        done += n
        position = 0
        while position < n:
            position, filled, largest = fill_batch(batch, bounds, ordered, sizes, position, top[0])
            if largest + 2 > positions:
                positions = 2 * largest + 2
                space = enlarge(space, positions)
            locate_postings(commit, ranges, batch, filled)
            at = 0
            while at < filled:
                used, at, more = select_sentences(scoring, commit, batch, space, selection, used, at, filled)
                valued += more
                if at < filled:
                    selection, used = compact(selection, used, sizes[batch.documents[at]])
        if threshold <= top[0]:
            break
        threshold = top[0]
    selection, used = compact(selection, used, 0)
    return selection, used, total, valued


__all__ = [
    "LANES",
    "best_evidence",
    "bound_vectors",
    "compute_bits",
    "count_all",
    "count_any",
    "mark_positions",
    "multiply_all",
    "multiply_some",
    "multiply_vectors",
    "rank",
    "round_impacts",
    "search",
]


@compiled
def _search(rule, transform, terms, commit, static_scores, filters, scratch):
    selection, used, total, valued = top_k(rule, transform, terms, commit, static_scores, filters, scratch)
    order = np.argsort(selection.sentences[:used])
    if rule.candidates != DOCUMENT_LEVEL:
        total = count_matches(rule, terms, commit, static_scores.scores, filters, scratch.marks)
    evidence = compute_evidence(transform.formula, terms.table, selection.facts, order)
    return selection.sentences[order], evidence, total, valued


@eager_jit(RULE, TRANSFORM, QUERY_TERMS, COMMIT, STATIC_SCORES, FILTERS, SCRATCH)
def search(rule, transform, terms, commit, static_scores, filters, scratch):
    """Search a commit for the sentences that may be in the top k.

    Returns their ordinals, ascending; their evidence; the number of candidates; the number of sentences
    scored. The arguments are groups of `layout`, each passed as a plain tuple, with the numbers of TERM and
    RANGES.
    """
    formula, length_table, high, low = transform
    table, ranges, impacts, termless = terms
    commit = Commit(*commit)
    ranges = view_ranges(ranges, len(commit.segments))
    return _search(
        Rule(*rule),
        Transform(Formula(*formula), length_table, high, low),
        Terms(table.view(TERM), ranges, impacts, Termless(*termless)),
        commit,
        StaticScores(*static_scores),
        Filters(*filters),
        Scratch(*scratch),
    )


@eager_jit(LONG, DOUBLES, LONGS, DOUBLE_TABLE, DOUBLE_TABLE)
def rank(k, terms, ordinals, values, static_scores):
    """Rank the selected sentences: the ordinals of the k best, best first, and their scores.

    Ties are in the given order. `terms` are the numbers of TERM; `values`, of shape (T, n), is what each
    term adds per unit of its weight; `static_scores` has one row for each static score. Sentences without a
    finite score are left out. Scores are summed by the steps of `esr.plans.evaluate`.
    """
    scores, ranked, left = np.zeros(len(ordinals)), np.empty(len(ordinals), np.int64), 0
    table = terms.view(TERM)
    for t in range(len(values)):
        for n in range(len(ordinals)):
            scores[n] += table[t].weight * values[t, n]
    for row in range(len(static_scores)):
        for n in range(len(ordinals)):
            scores[n] += static_scores[row, n]
    for n in range(len(ordinals)):
        scores[left], ranked[left] = -scores[n], ordinals[n]
        left += np.isfinite(scores[n])
    order = np.argsort(scores[:left], kind="mergesort")[:k]
    return ranked[order], -scores[order]
