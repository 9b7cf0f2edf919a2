"""The best k sentences, by pruning where possible, otherwise by scoring every candidate.

Pruning gives every document with a candidate an upper bound of its best sentence's score (`esr.plans.bounds`)
and visits documents by falling bounds until none reaches the k-th score. Bounds equal to it are visited, so
the answer is that of scoring everything, ties included. Bounds are computed from the postings for any
parameters of the plan; nothing is stored for them.
"""

from __future__ import annotations

import numpy as np

from esr.folder.search.cache import SearchCache
from esr.folder.search.candidates import TopK, select_candidates
from esr.folder.search.evidence import read_evidence, read_importance
from esr.folder.search.kernel_loader import LOADER
from esr.index.filters import Filters
from esr.plans.evaluate import score_sentences, top_k
from esr.plans.plan import Plan, Unprunable


def search_pruned(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> TopK | Unprunable:
    """Search with the kernel. Returns Unprunable if every candidate has to be scored."""
    if LOADER.kernel is None:
        return Unprunable(LOADER.reason)
    # Imported here, since a search from the command line ends before the kernel is loaded.
    from esr.folder.search.pruned_search import MAX_STATIC_SCORE, bind, topk_numba

    query = bind(plan, cache, k, filters)
    if isinstance(query, Unprunable):
        return query
    if query.static_scores is not None and query.static_scores.greatest > MAX_STATIC_SCORE:
        return Unprunable(f"a prior or a feature adds more than {MAX_STATIC_SCORE:g}")
    return topk_numba(LOADER.kernel, query)


def search_exhaustive(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> TopK:
    """Search by scoring every candidate."""
    snapshot = cache.snapshot
    columns = [static_score.column for static_score in plan.static_scores]
    terms = [term.term for term in plan.terms]
    ordinals, values = [np.zeros(0, np.int64)], [np.zeros(0)]
    scored = 0
    for owner, numbers in enumerate(select_candidates(plan, cache, filters)):
        importance = read_importance(snapshot, columns, owner)
        fields = plan.transform.fields()
        evidence = read_evidence(terms, fields, columns, snapshot.segments[owner], importance, numbers)
        scores = score_sentences(plan, evidence)
        has_score = np.flatnonzero(np.isfinite(scores))
        scored += len(numbers)
        ordinals.append(numbers[has_score] + snapshot.statistics.sentence_bases[owner])
        values.append(scores[has_score])
    all_ordinals, all_scores = np.concatenate(ordinals), np.concatenate(values)
    best = top_k(all_scores, k)
    return TopK(all_ordinals[best], all_scores[best], len(all_scores), scored)
