"""A search made ready: what numpy's and the compiled way begin with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search import gather
from esr.engines.embedded.search.impacts import Impacts
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.embedded.search.static_bounds import StaticBounds
from esr.engines.index import Filters
from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.reader.snapshot import Snapshot
from esr.plans.bounds import Unprunable
from esr.plans.evidence import Array
from esr.plans.plan import Plan

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Best(NamedTuple):
    """Sentences by their number over all segments, best first, their scores, how many candidates there are,
    and how many of them were scored."""

    numbers: Numbers
    scores: Array
    total: int
    scored: int


class Asked(NamedTuple):
    """A plan's best k sentences in a commit.

    `statics` is None where the plan has none, `passing` (documents) where all pass. `chosen` has the
    candidates, of shape (sentences,), where the filters tell sentences of a document apart, else None.
    """

    plan: Plan
    cache: SearchCache
    k: int
    known: Impacts
    statics: StaticBounds | None
    passing: Mask | None
    chosen: Mask | None

    @property
    def snapshot(self) -> Snapshot:
        return self.cache.snapshot

    @property
    def statistics(self) -> CommitStatistics:
        return self.cache.snapshot.statistics

    @property
    def whole(self) -> bool:
        """Whether the plan's rule takes all sentences of a document or none."""
        plan = self.plan
        return plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")

    def slack(self, greatest: float) -> float:
        """What rounding may put between a bound and a score, where a term adds so much at most."""
        if self.statics is not None:
            greatest = max(greatest, self.statics.greatest)
        return self.known.bound.slack(self.plan, greatest)


def asked(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> Asked | Unprunable:
    """The search, if there are bounds for it."""
    snapshot, known = cache.snapshot, cache.impacts.get(plan.transform)
    why = known.bound.impossible(plan.terms)
    if why is not None:
        return Unprunable(why)
    statics = cache.statics.bounds(plan.statics) if plan.statics else None
    passing = chosen = None
    if filters:
        masks = [segment.passing(filters) for segment in snapshot.segments]
        passing = np.concatenate([np.zeros(0, bool), *(mask for mask in masks if mask is not None)])
    if filters.entities:
        every = [gather.chosen(plan, segment, filters) for segment in snapshot.segments]
        chosen = np.concatenate([np.zeros(0, bool), *every])
    return Asked(plan, cache, k, known, statics, passing, chosen)
