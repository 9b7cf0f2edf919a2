"""The search, as it is called from outside.

Importing this compiles the kernel, or reads it from numba's cache.
"""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.counting import count_matches
from esr.engines.embedded.search.kernel.evidence import compute_evidence
from esr.engines.embedded.search.kernel.impacts import best_evidence, round_impacts
from esr.engines.embedded.search.kernel.layout import (
    ALL_DOCUMENTS,
    CANDIDATES,
    DOCUMENT_LEVEL,
    MARGIN,
    STARTS,
    TABLE,
    TERMLESS,
    WEIGHT,
    Commit,
    Filters,
    K,
    Rule,
    Scratch,
    Statics,
    Terms,
    Transform,
)
from esr.engines.embedded.search.kernel.numba_support import compiled, eager_jit, inlined
from esr.engines.embedded.search.kernel.products import multiply_vectors
from esr.engines.embedded.search.kernel.signatures import (
    COMMIT,
    DOUBLE_TABLE,
    DOUBLES,
    FILTERS,
    FLOATS,
    LONGS,
    SCRATCH,
    STATICS,
    TRANSFORM,
)
from esr.engines.embedded.search.kernel.term_counts import count_all, count_any
from esr.engines.embedded.search.kernel.top_k import top_k
from esr.engines.embedded.search.kernel.word_places import mark_places

__all__ = [
    "best_evidence",
    "count_all",
    "count_any",
    "mark_places",
    "multiply_vectors",
    "rank",
    "round_impacts",
    "search",
]


@inlined
def read_rule(numbers, reals):
    """The rule of a query, from its numbers."""
    return Rule(numbers[K], numbers[CANDIDATES], numbers[ALL_DOCUMENTS] != 0, reals[MARGIN])


@inlined
def read_terms(numbers, reals, impacts, segments):
    """The terms of a query, from its numbers."""
    terms = (len(reals) - TABLE) // 3
    ranges = numbers[STARTS + terms :].reshape((terms, segments, 4))
    table = reals[TABLE:].reshape((terms, 3))
    return Terms(table, ranges, impacts, numbers[STARTS : STARTS + terms], reals[TERMLESS:TABLE])


@compiled
def _search(rule, transform, terms, commit, statics, filters, scratch):
    selection, used, total, valued = top_k(rule, transform, terms, commit, statics, filters, scratch)
    order = np.argsort(selection.sentences[:used])
    if rule.candidates != DOCUMENT_LEVEL:
        total = count_matches(rule, terms, commit, statics.scores, filters, scratch.marks)
    evidence = compute_evidence(transform, terms.table, selection.facts, order)
    return selection.sentences[order], evidence, total, valued


@eager_jit(LONGS, DOUBLES, FLOATS, TRANSFORM, COMMIT, STATICS, FILTERS, SCRATCH)
def search(numbers, reals, impacts, transform, commit, statics, filters, scratch):
    """The ordinals of the sentences that may be among the k best, ascending; the evidence for them; how many
    candidates there are; how many sentences were valued.

    `numbers` and `reals` are those of the query, `impacts` those of `Terms`. The groups of `layout` come as
    plain tuples.
    """
    return _search(
        read_rule(numbers, reals),
        Transform(*transform),
        read_terms(numbers, reals, impacts, len(commit[0])),
        Commit(*commit),
        Statics(*statics),
        Filters(*filters),
        Scratch(*scratch),
    )


@eager_jit(LONGS, DOUBLES, LONGS, DOUBLE_TABLE, DOUBLE_TABLE)
def rank(numbers, reals, ordinals, values, statics):
    """The ordinals of the k best sentences of a query, best first, ties as they come, and their scores.

    `values` is what the terms add per unit of their weights (T, n), `statics` what each static adds, one in a
    row. Sentences without a finite score are left out. Scores are summed up by the steps of
    `esr.plans.evaluate`.
    """
    scores, ranked, left = np.zeros(len(ordinals)), np.empty(len(ordinals), np.int64), 0
    for t in range(len(values)):
        weight = reals[TABLE + 3 * t + WEIGHT]
        for n in range(len(ordinals)):
            scores[n] += weight * values[t, n]
    for row in range(len(statics)):
        for n in range(len(ordinals)):
            scores[n] += statics[row, n]
    for n in range(len(ordinals)):
        scores[left], ranked[left] = -scores[n], ordinals[n]
        left += np.isfinite(scores[n])
    order = np.argsort(scores[:left], kind="mergesort")[: numbers[K]]
    return ranked[order], -scores[order]
