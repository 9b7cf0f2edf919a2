"""The best sentences by the kernel: what it is given, and how the sentences that it selects are scored."""

from __future__ import annotations

from typing import Any

import numpy as np

from esr.engines.embedded.search.evidence import read_columns
from esr.engines.embedded.search.kernel import layout
from esr.engines.embedded.search.kernel.layout import DOCUMENT_LEVEL, MATCHING, SURROUNDING
from esr.engines.embedded.search.query import BoundQuery
from esr.engines.embedded.search.top_k import TopK
from esr.plans.evaluate import apply_transform, score_static
from esr.plans.evidence import Array

MAX_STATIC = 1e30
"""Statics that add more cannot be pruned: the kernel has them in 32 bits."""
_NO_MASK, _NO_BITS, _NO_SCORES = np.zeros(0, bool), np.zeros(0, np.uint64), np.zeros((0, 0))
_NO_STATICS = tuple(layout.Statics(np.zeros(0), np.zeros(0, np.float32), False))
_NO_FILTERS = tuple(layout.Filters(_NO_MASK, _NO_MASK, _NO_BITS))


def topk_numba(kernel: Any, query: BoundQuery) -> TopK:
    """The answer. Sentences that the kernel selects are scored as any sentence is."""
    plan, cache = query.plan, query.cache
    if not cache.snapshot.statistics.sentence_bases[-1]:
        return TopK(np.zeros(0, np.int64), np.zeros(0), 0, 0)
    tables, scratch = cache.kernel_tables, cache.kernel_tables.take_scratch()
    numbers, reals, impacts = _flatten(query)
    ordinals, evidence, total, scored = kernel.search(
        numbers,
        reals,
        impacts,
        query.impacts.kernel_transform(),
        tables.commit_group,
        _statics(query),
        _filters(query),
        scratch,
    )
    tables.put_back(scratch)
    statics = _NO_SCORES
    if plan.statics:
        columns = read_columns(plan, cache.snapshot, ordinals)
        statics = np.array([score_static(static, columns[static.column]) for static in plan.statics])
    values = apply_transform(plan.transform, evidence)
    ranked, scores = kernel.rank(numbers, reals, ordinals, values, statics)
    return TopK(ranked, scores, total, scored)


def _flatten(query: BoundQuery) -> tuple[layout.Longs, Array, layout.Floats]:
    """The numbers of a query, whole and real, as the kernel takes them, and the impacts."""
    plan, statistics = query.plan, query.cache.snapshot.statistics
    terms, (impacts, starts, greatest) = plan.terms, query.impacts.get(plan.terms)
    candidates = DOCUMENT_LEVEL
    if not query.is_document_level:
        candidates = MATCHING if plan.candidates == "matching" else SURROUNDING
    # Twice: a score may be off from its value, and the k-th best score from the k-th best value.
    margin = 2.0 * query.rounding_margin(greatest)
    if query.statics is not None:
        margin += 2.0**-22 * query.statics.greatest
    k = min(query.k, statistics.sentence_bases[-1])
    numbers: list[int] = [k, candidates, plan.candidates == "all", *starts]
    reals: list[float] = [margin, *query.impacts.bound.termless_score(terms)]
    for term in terms:
        for ranges in statistics.find(term.term).posting_ranges:
            numbers += ranges
        reals += term[1:]
    return np.array(numbers, np.int64), np.array(reals, np.float64), impacts


def _statics(query: BoundQuery) -> tuple[Any, ...]:
    """`layout.Statics`."""
    if query.statics is None:
        return _NO_STATICS
    scores = query.cache.statics.scores(query.plan.statics)
    return query.statics.upper_bounds, scores, query.statics.has_value is not None


def _filters(query: BoundQuery) -> tuple[Any, ...]:
    """`layout.Filters`."""
    documents, sentences = query.document_mask, query.sentence_mask
    if documents is None and sentences is None:
        return _NO_FILTERS
    bits = _NO_BITS
    if sentences is not None and not query.is_document_level:
        bits = np.zeros(len(sentences) // 64 + 1, np.uint64)
        bits.view(np.uint8)[: -(-len(sentences) // 8)] = np.packbits(sentences, bitorder="little")
    return _NO_MASK if documents is None else documents, _NO_MASK if sentences is None else sentences, bits
