"""The sentences that may be among the k best.

Documents are looked at best bound first, until no bound that is left reaches the k-th value. A sentence whose
value is within rounding of the k best is selected; `esr.plans.evaluate` sums up the scores of the selection
from the evidence that `evidence.py` computes.
"""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.bounds import (
    add_documents,
    add_impacts,
    are_all_own,
    bound_documents,
    mark_reached,
)
from esr.engines.embedded.search.kernel.documents import select_sentences
from esr.engines.embedded.search.kernel.heap import sift_down
from esr.engines.embedded.search.kernel.layout import BACKGROUND, OWN, WEIGHT, Scoring, Selection, Workspace
from esr.engines.embedded.search.kernel.numba_support import compiled, inlined


@inlined
def open_workspace(table):
    """A workspace for a plan's terms, with room for documents of 62 sentences."""
    terms = len(table)
    weight, background, own = np.empty(terms), np.empty(terms), np.empty(terms, np.bool_)
    for t in range(terms):
        weight[t], background[t], own[t] = table[t, WEIGHT], table[t, BACKGROUND], table[t, OWN] > 0
    present, share = np.zeros(terms, np.int64), np.zeros(terms)
    return Workspace(weight, background, own, present, share, np.zeros(64 * terms), np.zeros(64, np.bool_))


@inlined
def enlarge(space, size):
    """The workspace with room for a document of so many sentences."""
    terms = len(space.weight)
    counts, near = np.zeros((2 * size + 2) * terms), np.zeros(2 * size + 2, np.bool_)
    return Workspace(space.weight, space.background, space.own, space.present, space.share, counts, near)


@inlined
def compact(selection, used, room):
    """The selection without what is below the k-th value, grown if that makes too little room.

    Gives how many sentences are left, too.
    """
    sentences, values, least = selection.sentences, selection.values, selection.top[0]
    left = 0
    for n in range(used):
        if values[n] >= least:
            sentences[left], values[left] = sentences[n], values[n]
            left += 1
    if 2 * left + room > len(sentences):
        size = 2 * len(sentences) + room
        more, more_values = np.empty(size, np.int64), np.empty(size)
        more[:left], more_values[:left] = sentences[:left], values[:left]
        return Selection(more, more_values, selection.top), left
    return selection, left


@compiled
def top_k(rule, transform, terms, commit, statics, filters, scratch):
    """The sentences that may be among the k best, in no order.

    Gives these; how many candidates there are, if the rule takes whole documents; how many sentences were
    valued.
    """
    scoring = Scoring(
        rule.candidates,
        rule.margin,
        transform.shape,
        transform.numbers,
        transform.length_table,
        terms.posting_ranges,
        terms.termless,
    )
    space, top = open_workspace(terms.table), np.full(rule.k, -np.inf)
    reached, starts, all_own = 0, terms.impact_starts.copy(), are_all_own(rule, terms)
    for g in range(len(commit.segments)):
        reached = add_impacts(terms, commit, g, space.weight, starts, scratch, reached)
        if not all_own:
            mark_reached(terms, commit, g, space.own, scratch)
    if rule.all_documents:
        reached = add_documents(terms, filters.documents, scratch, reached)
    total, size, threshold = bound_documents(
        rule, transform, terms, commit, statics, filters, scratch, reached
    )
    keys, documents, sizes, mask = scratch.keys, scratch.documents, commit.sizes, filters.sentences
    selection = Selection(np.empty(256, np.int64), np.empty(256), top)
    places, room = len(space.near), len(selection.sentences)
    used, valued, done = 0, 0, 0
    while done < size:
        # The best bounds that are left: first those above the threshold, then all that may still count.
        heap = 0
        for n in range(done, size):
            if keys[n] >= threshold:
                at = done + heap
                keys[n], keys[at] = keys[at], keys[n]
                documents[n], documents[at] = documents[at], documents[n]
                heap += 1
        best, best_documents = keys[done : done + heap], documents[done : done + heap]
        done += heap
        for at in range(heap // 2 - 1, -1, -1):
            sift_down(best, best_documents, at, heap)
        while heap > 0 and best[0] >= top[0]:
            d, heap = best_documents[0], heap - 1
            best[0], best_documents[0] = best[heap], best_documents[heap]
            sift_down(best, best_documents, 0, heap)
            if sizes[d] + 2 > places:
                space = enlarge(space, sizes[d])
                places = len(space.near)
            if used + sizes[d] > room:
                selection, used = compact(selection, used, sizes[d])
                room = len(selection.sentences)
            used, more = select_sentences(scoring, commit, statics, mask, space, selection, used, d)
            valued += more
        if threshold <= top[0]:
            break
        threshold = top[0]
    selection, used = compact(selection, used, 0)
    return selection.sentences[:used], total, valued
