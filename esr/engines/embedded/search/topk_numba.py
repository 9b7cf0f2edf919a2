"""The best sentences by the kernel: what it is given, and how the sentences that it selects are scored."""

from __future__ import annotations

from typing import Any

import numpy as np

from esr.engines.embedded.search.evidence import read_columns
from esr.engines.embedded.search.kernel import layout
from esr.engines.embedded.search.kernel.layout import DOCUMENT_LEVEL, MATCHING, SURROUNDING
from esr.engines.embedded.search.query import BoundQuery
from esr.engines.embedded.search.top_k import TopK
from esr.plans.evaluate import sum_scores

MAX_STATIC = 1e30
"""Statics that add more cannot be pruned: the kernel has them in 32 bits."""
_NO_MASK, _NO_BITS = np.zeros(0, bool), np.zeros(0, np.uint64)
_NO_STATICS = layout.Statics(np.zeros(0), np.zeros(0, np.float32), False)


def topk_numba(kernel: Any, query: BoundQuery) -> TopK:
    """The answer. Sentences that the kernel selects are scored as any sentence is."""
    plan, cache = query.plan, query.cache
    if not cache.snapshot.statistics.sentence_bases[-1]:
        return TopK(np.zeros(0, np.int64), np.zeros(0), 0, 0)
    tables, terms, greatest = cache.kernel_tables, *_terms(query)
    groups = (_rule(query, greatest), query.impacts.kernel_transform(), terms, tables.commit)
    scratch = tables.take_scratch()
    ordinals, evidence, total, scored = kernel.search(
        *map(tuple, groups), tuple(_statics(query)), tuple(_filters(query)), tuple(scratch)
    )
    tables.put_back(scratch)
    columns = read_columns(plan, cache.snapshot, ordinals) if plan.statics else {}
    scores = sum_scores(plan, len(ordinals), evidence, columns)
    if columns:
        has_score = np.isfinite(scores)
        ordinals, scores = ordinals[has_score], scores[has_score]
    # They ascend, and equal scores stay in their order.
    best = np.argsort(-scores, kind="stable")[: query.k]
    return TopK(ordinals[best], scores[best], total, scored)


def _terms(query: BoundQuery) -> tuple[layout.Terms, float]:
    """The plan's terms, and what one of them adds at most."""
    terms, statistics = query.plan.terms, query.cache.snapshot.statistics
    impacts, starts, greatest = query.impacts.get(terms)
    ranges = [statistics.find(term.term).posting_ranges for term in terms]
    group = layout.Terms(
        np.array([term[1:] for term in terms], np.float64).reshape(-1, 3),
        np.array(ranges, np.int64).reshape(len(terms), len(statistics.segments), 4),
        impacts,
        np.array(starts, np.int64),
        np.array(query.impacts.bound.termless_score(terms)),
    )
    return group, greatest


def _rule(query: BoundQuery, greatest: float) -> layout.Rule:
    candidates = DOCUMENT_LEVEL
    if not query.is_document_level:
        candidates = MATCHING if query.plan.candidates == "matching" else SURROUNDING
    # Twice: a score may be off from its value, and the k-th best score from the k-th best value.
    margin = 2.0 * query.rounding_margin(greatest)
    if query.statics is not None:
        margin += 2.0**-22 * query.statics.greatest
    k = min(query.k, query.cache.snapshot.statistics.sentence_bases[-1])
    return layout.Rule(k, candidates, query.plan.candidates == "all", margin)


def _statics(query: BoundQuery) -> layout.Statics:
    if query.statics is None:
        return _NO_STATICS
    scores = query.cache.statics.scores(query.plan.statics)
    return layout.Statics(query.statics.upper_bounds, scores, query.statics.has_value is not None)


def _filters(query: BoundQuery) -> layout.Filters:
    documents, sentences = query.document_mask, query.sentence_mask
    bits = _NO_BITS
    if sentences is not None and not query.is_document_level:
        bits = np.zeros(len(sentences) // 64 + 1, np.uint64)
        bits.view(np.uint8)[: -(-len(sentences) // 8)] = np.packbits(sentences, bitorder="little")
    return layout.Filters(
        _NO_MASK if documents is None else documents, _NO_MASK if sentences is None else sentences, bits
    )
