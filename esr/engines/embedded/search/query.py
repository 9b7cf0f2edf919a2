"""A plan bound to a snapshot: what pruning begins with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.candidates import mask_candidates
from esr.engines.embedded.search.filter_mask import mask_documents
from esr.engines.embedded.search.impacts import Impacts
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.embedded.search.static_bounds import StaticBounds
from esr.engines.index import Filters
from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.plans.bounds import Unprunable
from esr.plans.plan import Plan

Mask = npt.NDArray[np.bool_]


class BoundQuery(NamedTuple):
    """The search for a plan's best k sentences in a commit.

    `statics` is None where the plan has none. `document_mask` has the documents that the filters let
    through, None if all. `candidate_mask` has the candidates, of shape (sentences,), where the filters tell
    sentences of a document apart, else None.
    """

    plan: Plan
    cache: SearchCache
    k: int
    impacts: Impacts
    statics: StaticBounds | None
    document_mask: Mask | None
    candidate_mask: Mask | None

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

    def count_candidates(self) -> int:
        """How many sentences of `candidate_mask` have a value."""
        mask = self.candidate_mask
        assert mask is not None
        has_value = None if self.statics is None else self.statics.has_value
        return int(np.count_nonzero(mask if has_value is None else mask & has_value))


def bind(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> BoundQuery | Unprunable:
    """The search, if there are bounds for the plan."""
    segments, impacts = cache.snapshot.segments, cache.impacts.get(plan.transform)
    reason = impacts.bound.unavailable_reason(plan.terms)
    if reason is not None:
        return Unprunable(reason)
    statics = cache.statics.bounds(plan.statics) if plan.statics else None
    document_mask = candidate_mask = None
    if filters:
        masks = [mask_documents(segment, filters) for segment in segments]
        document_mask = np.concatenate([np.zeros(0, bool), *(mask for mask in masks if mask is not None)])
    if filters.entities:
        masks = [mask_candidates(plan, segment, filters) for segment in segments]
        candidate_mask = np.concatenate([np.zeros(0, bool), *masks])
    return BoundQuery(plan, cache, k, impacts, statics, document_mask, candidate_mask)
