"""The candidates of a second stage: the best by words and, where it uses vectors, the nearest by vector too.

A sentence that says in other words what a query asks may have none of its words, or be far below others that
have more of them. So both lists are candidates always, and each is scored by the whole sum.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.engines.index import Filters, Index, SearchResult
from esr.engines.lazy_hits import LazyHits
from esr.plans.evaluate import score_sentences
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Plan
from esr.ranking.query_vector import encode_query
from esr.ranking.reranker import Candidates


def add_nearest(
    index: Index, plan: Plan, text: str, result: SearchResult, depth: int, filters: Filters
) -> Candidates:
    """The best `depth` of the plan's hits with the `depth` nearest sentences; the other hits below them.

    The nearest satisfy the plan's condition and the filters, but need no term of it. They do not depend on
    the number of hits. A sentence that the plan has no score for is left out.
    """
    hits = LazyHits.of(result.hits)
    best = hits.head(depth)
    if not text.strip():
        return Candidates(hits, len(best), len(best), result.total)
    encoder, vector = encode_query(index, text)
    nearest = LazyHits.of(index.nearest(encoder, vector, depth, plan.condition, filters))
    new = nearest.at(np.flatnonzero(~np.isin(nearest.ordinals, best.ordinals)))
    columns = [static.column for static in plan.statics]
    evidence = index.evidence([term.term for term in plan.terms], new.ids, columns, new.ordinals.tolist())
    scores = score_nearest(plan, evidence)
    is_new = np.isfinite(scores) & ~is_candidate(plan, evidence)
    scored = np.flatnonzero(np.isfinite(scores))
    new = new.at(scored, scores[scored])
    below = np.flatnonzero(~np.isin(hits.ordinals[len(best) :], new.ordinals)) + len(best)
    total = result.total + int(np.count_nonzero(is_new))
    return Candidates(LazyHits.join([best, new, hits.at(below)]), len(best), len(best) + len(new), total)


def score_nearest(plan: Plan, evidence: Evidence) -> Array:
    """The first stage's scores of sentences that vectors found, of shape (n,): 0 for a plan without terms."""
    if not plan.terms and plan.candidates != "all":
        return np.zeros(len(evidence.lengths["sentence"]))
    return score_sentences(plan, evidence)


def is_candidate(plan: Plan, evidence: Evidence) -> npt.NDArray[np.bool_]:
    """Which sentences the plan's rule makes candidates, of shape (n,). They satisfy its condition."""
    if plan.candidates == "all":
        return np.ones(len(evidence.lengths["sentence"]), bool)
    terms = set(plan.candidate_terms)
    rows = [row for row, term in enumerate(plan.terms) if term.term in terms]
    counts = evidence.counts["sentence" if plan.candidates == "matching" else plan.context]
    return np.asarray(counts[rows].sum(axis=0) > 0)
