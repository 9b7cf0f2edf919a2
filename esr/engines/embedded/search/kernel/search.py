"""The search, as it is called from outside.

Importing this compiles the kernel, or reads it from numba's cache.
"""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.counting import count_matches
from esr.engines.embedded.search.kernel.evidence import compute_evidence
from esr.engines.embedded.search.kernel.impacts import best_evidence, round_impacts
from esr.engines.embedded.search.kernel.layout import (
    DOCUMENT_LEVEL,
    Commit,
    Filters,
    Rule,
    Scratch,
    Statics,
    Terms,
    Transform,
)
from esr.engines.embedded.search.kernel.numba_support import compiled, eager_jit
from esr.engines.embedded.search.kernel.products import multiply_vectors
from esr.engines.embedded.search.kernel.signatures import (
    COMMIT,
    FILTERS,
    RULE,
    SCRATCH,
    STATICS,
    TERMS,
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
    "round_impacts",
    "search",
]


@compiled
def _search(rule, transform, terms, commit, statics, filters, scratch):
    selection, used, total, valued = top_k(rule, transform, terms, commit, statics, filters, scratch)
    order = np.argsort(selection.sentences[:used])
    if rule.candidates != DOCUMENT_LEVEL:
        total = count_matches(rule, terms, commit, statics.scores, filters, scratch.marks)
    evidence = compute_evidence(transform, terms.table, selection.facts, order)
    return selection.sentences[order], evidence, total, valued


@eager_jit(RULE, TRANSFORM, TERMS, COMMIT, STATICS, FILTERS, SCRATCH)
def search(rule, transform, terms, commit, statics, filters, scratch):
    """The ordinals of the sentences that may be among the k best, ascending; the evidence for them; how many
    candidates there are; how many sentences were valued.

    The groups of `layout` come as plain tuples.
    """
    return _search(
        Rule(*rule),
        Transform(*transform),
        Terms(*terms),
        Commit(*commit),
        Statics(*statics),
        Filters(*filters),
        Scratch(*scratch),
    )
