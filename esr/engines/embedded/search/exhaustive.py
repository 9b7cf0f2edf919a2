"""The best k sentences by scoring every candidate: where pruning is not possible, and in tests."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.candidates import select_candidates
from esr.engines.embedded.search.evidence import read_evidence, read_importance
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.embedded.search.top_k import TopK
from esr.engines.index import Filters
from esr.plans.evaluate import score_sentences
from esr.plans.plan import Plan
from esr.plans.top_k import top_k


def search_exhaustive(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> TopK:
    """The answer, from the evidence of all candidates."""
    snapshot = cache.snapshot
    columns = [static.column for static in plan.statics]
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
