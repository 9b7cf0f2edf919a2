"""The pruned search: binds a plan to a snapshot, calls the kernel, and ranks what it selects.

Pruning gives every document with a candidate an upper bound of its best sentence's score (`esr.plans.bounds`)
and visits documents in descending order of bounds until none reaches the k-th score. Documents whose bound
equals that score are visited, so the answer equals that of an exhaustive search, ties included. Bounds are
computed from the postings for any parameters of the plan; nothing is stored for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from esr.folder.format.files import Mask
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import CommitStatistics
from esr.folder.kernel import layout
from esr.folder.kernel.layout import DOCUMENT_LEVEL, MATCHING, SURROUNDING
from esr.folder.search.cache import SearchCache, StaticBounds
from esr.folder.search.candidates import TopK, mask_sentences
from esr.folder.search.conditions import find_live, mask_documents
from esr.folder.search.impacts import Impacts, flatten
from esr.folder.search.records import read_columns
from esr.index.filters import Filters
from esr.plans.evaluate import apply_static_score, apply_transform
from esr.plans.plan import Plan, Unprunable

_FEW = 0.1
"""Share of sentences in the mask up to which searching only their documents is faster."""


class PrunedSearch(NamedTuple):
    """The search for a plan's best k sentences in a commit.

    `statistics` has postings only of the segments that may have candidates. `static_scores` is None if the
    plan has none. `document_mask` is the mask of documents that may have
    candidates, None for all. `sentence_mask`, of shape (sentences,), is the mask of sentences that pass the
    filters and the plan's condition, None if these apply to whole documents only.
    """

    plan: Plan
    cache: SearchCache
    statistics: CommitStatistics
    k: int
    impacts: Impacts
    static_scores: StaticBounds | None
    document_mask: Mask | None
    sentence_mask: Mask | None

    @property
    def is_document_level(self) -> bool:
        """Whether the candidate rule takes all sentences of a document or none."""
        plan = self.plan
        return plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")

    def rounding_margin(self, greatest: float) -> float:
        """The most that rounding may put between a bound and a score.

        `greatest` is the most that a term adds.
        """
        if self.static_scores is not None:
            greatest = max(greatest, self.static_scores.greatest)
        return self.impacts.bound.rounding_margin(self.plan, greatest)


def _bind(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> PrunedSearch | Unprunable:
    """Bind a plan to a commit. Returns Unprunable if there are no bounds for it."""
    live = find_live(cache.snapshot, filters, plan.condition)
    impacts = cache.impacts.get(plan.transform, live)
    reason = impacts.bound.unavailable_reason(plan.terms)
    if reason is not None:
        return Unprunable(reason)
    static_scores = cache.static_scores.bounds(plan.static_scores) if plan.static_scores else None
    masks = _mask(plan, cache, filters, live) if filters or plan.condition is not None else (None, None)
    statistics = cache.snapshot.statistics.within(live)
    return PrunedSearch(plan, cache, statistics, k, impacts, static_scores, *masks)


def _mask(plan: Plan, cache: SearchCache, filters: Filters, live: range) -> tuple[Mask | None, Mask | None]:
    """Compute the masks of `PrunedSearch`."""
    segments = cache.snapshot.segments
    bases = cache.snapshot.statistics.document_table.document_bases
    outside = [bases[live.start], bases[-1] - bases[live.stop]]
    mask = _concatenate(mask_documents(segments[n], filters) for n in live)
    if any(outside):
        before, after = (np.zeros(count, bool) for count in outside)
        if mask is None:
            mask = np.full(bases[live.stop] - bases[live.start], bool(live))
        document_mask: Mask | None = np.concatenate([before, mask, after])
    else:
        document_mask = mask
    sentence_masks = mask_sentences(plan.condition, cache, filters) or []
    sentence_mask = _concatenate(sentence_masks)
    if sentence_mask is not None and np.count_nonzero(sentence_mask) < _FEW * len(sentence_mask):
        has_sentence = np.concatenate(list(map(_mask_documents_of, segments, sentence_masks)))
        document_mask = has_sentence if document_mask is None else document_mask & has_sentence
    return document_mask, sentence_mask


def _mask_documents_of(segment: Segment, sentences: Mask) -> Mask:
    """Mask of the documents with a sentence of the mask."""
    mask = np.zeros(segment.document_count, bool)
    mask[segment.column("document")[np.flatnonzero(sentences)]] = True
    return mask


def _concatenate(masks: Iterable[Mask | None]) -> Mask | None:
    parts = [mask for mask in masks if mask is not None]
    return np.concatenate(parts) if parts else None


_MAX_STATIC_SCORE = 1e30
"""Greatest contribution of static scores for which searches are pruned: the kernel holds them in 32 bits."""
_NO_MASK, _NO_BITS, _NO_SCORES = np.zeros(0, bool), np.zeros(0, np.uint64), np.zeros((0, 0))
_NO_STATIC_SCORES = tuple(layout.StaticScores(np.zeros(0), np.zeros(0, np.float32), False))
_NO_FILTERS = tuple(layout.Filters(_NO_MASK, _NO_MASK, _NO_BITS))


def search_pruned(kernel: Any, plan: Plan, cache: SearchCache, k: int, filters: Filters) -> TopK | Unprunable:
    """Search with the kernel. Returns Unprunable if every candidate has to be scored."""
    query = _bind(plan, cache, k, filters)
    if isinstance(query, Unprunable):
        return query
    if query.static_scores is not None and query.static_scores.greatest > _MAX_STATIC_SCORE:
        return Unprunable(f"a prior or a feature adds more than {_MAX_STATIC_SCORE:g}")
    return _select(kernel, query)


def _select(kernel: Any, query: PrunedSearch) -> TopK:
    """Search with the kernel. The sentences that it selects are scored exactly."""
    plan, cache = query.plan, query.cache
    if not cache.snapshot.statistics.sentence_bases[-1]:
        return TopK(np.zeros(0, np.int64), np.zeros(0), 0, 0)
    tables, scratch = cache.kernel_tables, cache.kernel_tables.take_scratch()
    terms, margin = _read_terms(query)
    k = min(query.k, cache.snapshot.statistics.sentence_bases[-1])
    ordinals, evidence, total, scored = kernel.search(
        (k, _candidates(query), plan.candidates == "all", plan.needs_term, margin),
        cache.impacts.get(plan.transform).kernel_transform(),
        terms,
        tables.commit_group,
        _static_scores(query),
        _filters(query),
        scratch,
    )
    tables.put_back(scratch)
    static_scores = _NO_SCORES
    if plan.static_scores:
        columns = read_columns(plan, cache.snapshot, ordinals)
        static_scores = np.array(
            [
                apply_static_score(static_score, columns[static_score.column])
                for static_score in plan.static_scores
            ]
        )
    values = apply_transform(plan.transform, evidence)
    ranked, scores = kernel.rank(k, terms[0], ordinals, values, static_scores)
    return TopK(ranked, scores, total, scored)


def _candidates(query: PrunedSearch) -> int:
    if query.is_document_level:
        return DOCUMENT_LEVEL
    return MATCHING if query.plan.candidates == "matching" else SURROUNDING


def _read_terms(query: PrunedSearch) -> tuple[tuple[Any, ...], float]:
    """Build `layout.Terms`, and compute `Rule.margin`."""
    terms = query.plan.terms
    impacts, starts, greatest = query.impacts.get(terms)
    # Twice: both a score and the k-th best score may differ from their values in the kernel.
    margin = 2.0 * query.rounding_margin(greatest)
    if query.static_scores is not None:
        margin += 2.0**-22 * query.static_scores.greatest
    termless = tuple(query.impacts.bound.termless_score(terms))
    return (*flatten(terms, starts, query.statistics), impacts, termless), margin


def _static_scores(query: PrunedSearch) -> tuple[Any, ...]:
    """Build `layout.StaticScores`."""
    if query.static_scores is None:
        return _NO_STATIC_SCORES
    scores = query.cache.static_scores.scores(query.plan.static_scores)
    return query.static_scores.upper_bounds, scores, query.static_scores.has_value is not None


def _filters(query: PrunedSearch) -> tuple[Any, ...]:
    """Build `layout.Filters`."""
    documents, sentences = query.document_mask, query.sentence_mask
    if documents is None and sentences is None:
        return _NO_FILTERS
    bits = _NO_BITS
    if sentences is not None and not query.is_document_level:
        bits = np.zeros(len(sentences) // 64 + 1, np.uint64)
        bits.view(np.uint8)[: -(-len(sentences) // 8)] = np.packbits(sentences, bitorder="little")
    return _NO_MASK if documents is None else documents, _NO_MASK if sentences is None else sentences, bits
