"""The sentences that may be among the k best.

Documents are looked at by their bounds, the best first, until no bound that is left reaches the k-th value.
A sentence whose value is within rounding of the k best is selected; `esr.plans.evaluate` sums up the scores
of the selection from the evidence that `evidence.py` computes.
"""

from __future__ import annotations

from esr.engines.embedded.search.kernel.bounds import (
    add_documents,
    add_impacts,
    are_all_own,
    bound_documents,
    mark_reached,
    offset_impacts,
)
from esr.engines.embedded.search.kernel.documents import select_sentences
from esr.engines.embedded.search.kernel.layout import MIXTURE, Scoring
from esr.engines.embedded.search.kernel.location import locate_postings, prefetch_postings
from esr.engines.embedded.search.kernel.numba_support import compiled
from esr.engines.embedded.search.kernel.order import fill_batch, order_documents, take_documents
from esr.engines.embedded.search.kernel.score import reads_surrounding
from esr.engines.embedded.search.kernel.workspace import (
    PLACES,
    compact,
    enlarge,
    open_batch,
    open_selection,
    open_workspace,
)


@compiled
def top_k(rule, transform, terms, commit, statics, filters, scratch):
    """The sentences that may be among the k best, in no order.

    Gives the selection; its size; how many candidates there are, if the rule takes whole documents; how many
    sentences were valued.
    """
    ranges = terms.posting_ranges
    scoring = Scoring(
        rule.candidates,
        rule.margin,
        transform.shape,
        transform.numbers,
        transform.length_table,
        ranges,
        terms.termless,
        terms.impacts,
        offset_impacts(terms, len(commit.segments)),
        reads_surrounding(transform.shape == MIXTURE, transform.numbers),
        statics.upper_bounds,
        statics.scores,
        filters.sentences,
    )
    space, batch, selection = (
        open_workspace(terms.table),
        open_batch(len(ranges)),
        open_selection(len(ranges), rule.k),
    )
    prefetch_postings(commit.segments, ranges)
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
    keys, documents, sizes, top = scratch.keys, scratch.documents, commit.sizes, selection.top
    used, valued, done, places = 0, 0, 0, PLACES
    while done < size:
        # The best bounds that are left: first those above the threshold, then all that may still count.
        n, lowest, highest = take_documents(keys, documents, done, size, threshold)
        bounds, ordered = order_documents(keys[done : done + n], documents[done : done + n], lowest, highest)
        done += n
        position = 0
        while position < n:
            position, filled, largest = fill_batch(batch, bounds, ordered, sizes, position, top[0])
            if largest + 2 > places:
                places = 2 * largest + 2
                space = enlarge(space, places)
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
