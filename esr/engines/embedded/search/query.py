"""A plan bound to a snapshot: what pruning begins with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.candidates import mask_sentences
from esr.engines.embedded.search.filter_mask import mask_documents
from esr.engines.embedded.search.impacts import Impacts
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.embedded.search.static_bounds import StaticBounds
from esr.engines.index import Filters
from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.store.segment import Segment
from esr.plans.plan import Plan
from esr.plans.unprunable import Unprunable

Mask = npt.NDArray[np.bool_]
_FEW = 0.1
"""The share of sentences up to which it pays to look only at the documents that have one of them."""


class BoundQuery(NamedTuple):
    """The search for a plan's best k sentences in a commit.

    `statics` is None where the plan has none. `document_mask` has the documents that may have candidates,
    None if all. `sentence_mask` has the sentences that filters and the plan's condition let through, of shape
    (sentences,), None if these tell no sentences of a document apart.
    """

    plan: Plan
    cache: SearchCache
    k: int
    impacts: Impacts
    statics: StaticBounds | None
    document_mask: Mask | None
    sentence_mask: Mask | None

    @property
    def statistics(self) -> CommitStatistics:
        return self.cache.snapshot.statistics

    @property
    def is_document_level(self) -> bool:
        """Whether the plan's rule takes all sentences of a document or none."""
        plan = self.plan
        return plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")

    def rounding_margin(self, greatest: float) -> float:
        """What rounding may put between a bound and a score. `greatest`: what a term adds at most."""
        if self.statics is not None:
            greatest = max(greatest, self.statics.greatest)
        return self.impacts.bound.rounding_margin(self.plan, greatest)


def bind(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> BoundQuery | Unprunable:
    """The search, if there are bounds for the plan."""
    impacts = cache.impacts.get(plan.transform)
    reason = impacts.bound.unavailable_reason(plan.terms)
    if reason is not None:
        return Unprunable(reason)
    statics = cache.statics.bounds(plan.statics) if plan.statics else None
    masks = _mask(plan, cache, filters) if filters or plan.condition is not None else (None, None)
    return BoundQuery(plan, cache, k, impacts, statics, *masks)


def _mask(plan: Plan, cache: SearchCache, filters: Filters) -> tuple[Mask | None, Mask | None]:
    """The documents and the sentences of `BoundQuery`."""
    segments = cache.snapshot.segments
    document_mask = _concatenate(mask_documents(segment, filters) for segment in segments)
    sentence_masks = mask_sentences(plan.condition, cache, filters) or []
    sentence_mask = _concatenate(sentence_masks)
    if sentence_mask is not None and np.count_nonzero(sentence_mask) < _FEW * len(sentence_mask):
        has_sentence = np.concatenate(list(map(_mask_documents_of, segments, sentence_masks)))
        document_mask = has_sentence if document_mask is None else document_mask & has_sentence
    return document_mask, sentence_mask


def _mask_documents_of(segment: Segment, sentences: Mask) -> Mask:
    """The documents that have a sentence of the mask."""
    mask = np.zeros(segment.document_count, bool)
    mask[segment.column("document")[np.flatnonzero(sentences)]] = True
    return mask


def _concatenate(masks: Iterable[Mask | None]) -> Mask | None:
    parts = [mask for mask in masks if mask is not None]
    return np.concatenate(parts) if parts else None
