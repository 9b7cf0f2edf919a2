"""What a search works with: made at its beginning, and grown where it is too small."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.layout import (
    BACKGROUND,
    BATCH,
    OWN,
    WEIGHT,
    Batch,
    Listed,
    Selection,
    Workspace,
)
from esr.engines.embedded.search.kernel.numba_support import inlined

PLACES, SELECTED = 64, 256
"""The places of the largest document, and the selected sentences, that there is room for at first."""


@inlined
def open_workspace(table):
    """A workspace for a plan's terms, with room for small documents."""
    terms = len(table)
    weight, inverse, own = np.empty(terms), np.empty(terms), np.empty(terms, np.bool_)
    for t in range(terms):
        weight[t], inverse[t], own[t] = table[t, WEIGHT], 1.0 / table[t, BACKGROUND], table[t, OWN] > 0
    present, document_counts, share = np.zeros(terms, np.int64), np.zeros(terms), np.zeros(terms)
    counts, around, lifts = np.zeros((terms, PLACES)), np.zeros((terms, PLACES)), np.zeros(PLACES)
    return Workspace(
        weight, inverse, own, present, document_counts, share, counts, around, lifts, open_list(PLACES)
    )


@inlined
def enlarge(space, places):
    """The workspace with so many places."""
    terms = len(space.weight)
    counts, around, lifts = np.zeros((terms, places)), np.zeros((terms, places)), np.zeros(places)
    return Workspace(
        space.weight,
        space.inverse_background,
        space.own,
        space.present,
        space.document_counts,
        space.share,
        counts,
        around,
        lifts,
        open_list(places),
    )


@inlined
def open_list(places):
    """Room for the sentences of a document with so many places."""
    numbers, lengths, around_lengths = (
        np.empty(places, np.int64),
        np.empty(places, np.int64),
        np.empty(places, np.int64),
    )
    here, beside, wide = np.empty(places), np.empty(places), np.empty(places)
    return Listed(numbers, lengths, around_lengths, here, beside, wide, np.empty(places), np.empty(places))


@inlined
def open_batch(terms):
    """Room for a batch of documents."""
    documents, bounds, owners = np.empty(BATCH, np.int64), np.empty(BATCH), np.empty(BATCH, np.int64)
    in_documents, in_sentences = np.empty((terms, BATCH), np.int64), np.empty((terms, BATCH), np.int64)
    members, having = np.empty(BATCH + 1, np.int64), np.empty(BATCH + 1, np.int64)
    wanted, found = np.empty(BATCH + 1, np.int64), np.empty(BATCH + 1, np.int64)
    return Batch(documents, bounds, owners, in_documents, in_sentences, members, having, wanted, found)


@inlined
def open_selection(terms, k):
    """A selection without sentences."""
    facts = np.empty((SELECTED, 3 * terms + 3))
    return Selection(np.empty(SELECTED, np.int64), np.empty(SELECTED), facts, np.full(k, -np.inf))


@inlined
def compact(selection, used, room):
    """The selection without what is below the k-th value, grown if that makes too little room.

    Gives how many sentences are left, too.
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
