"""The best sentences by the compiled kernel: what it is given, and how what it chose is scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search import gather
from esr.engines.embedded.search.asked import Asked, Best
from esr.engines.embedded.search.layout import AROUND, MATCHING, WHOLE
from esr.plans.evaluate import summed

Numbers = npt.NDArray[np.int64]
GREATEST = 1e30
"""Statics that add more are left to numpy: the kernel has them in 32 bits."""
NO_FLAGS, NO_FLOATS, NO_DOUBLES = np.zeros(0, bool), np.zeros(0, np.float32), np.zeros(0)


class _Terms:
    """A plan's terms as the kernel takes them, of shapes (T, 3), (T,) and (T, segments, 4)."""

    def __init__(self, asked: Asked) -> None:
        terms, statistics = asked.plan.terms, asked.statistics
        kept = asked.known.get(terms)
        self.impacts, self.greatest = kept.values, kept.greatest
        self.starts = np.array(kept.starts, np.int64)
        self.table = np.array([term[1:] for term in terms], np.float64).reshape(-1, 3)
        cuts = [statistics.find(term.term).posting_ranges for term in terms]
        self.cuts = np.array(cuts, np.int64).reshape(len(terms), len(statistics.segments), 4)


def covered(asked: Asked) -> bool:
    """Whether the kernel can answer it."""
    return asked.statics is None or asked.statics.greatest <= GREATEST


def compiled(kernel: Any, asked: Asked) -> Best:
    """The answer: those that the kernel chose are scored as any sentence is."""
    plan, snapshot = asked.plan, asked.snapshot
    if not snapshot.statistics.starts[-1]:
        return Best(np.zeros(0, np.int64), np.zeros(0), 0, 0)
    terms = _Terms(asked)
    at, total, valued = _chosen(kernel, asked, terms)
    known, commit, found = asked.known, asked.cache.kernel_tables, np.empty((len(plan.terms), len(at)))
    kernel.evidence(
        known.shape, known.numbers, terms.table, at, terms.cuts, commit.segments, commit.records, found
    )
    columns = gather.columns(plan, snapshot, at) if plan.statics else {}
    got = summed(plan, len(at), found, columns)
    if columns:
        there = np.isfinite(got)
        at, got = at[there], got[there]
    # They ascend, and equal scores stay in their order.
    best = np.argsort(-got, kind="stable")[: asked.k]
    return Best(at[best], got[best], total, valued)


def _chosen(kernel: Any, asked: Asked, terms: _Terms) -> tuple[Numbers, int, int]:
    """What may be among the k best, ascending; how many candidates there are; how many the kernel valued."""
    plan, known, statics = asked.plan, asked.known, asked.statics
    # Twice: a score may be off from its value, and the k-th best score from the k-th best value.
    slack = 2.0 * asked.slack(terms.greatest)
    most, adds, gaps = NO_DOUBLES, NO_FLOATS, False
    if statics is not None:
        most, adds = statics.upper_bounds, asked.cache.statics.scores(plan.statics)
        gaps = statics.has_value is not None
        slack += 2.0**-22 * statics.greatest
    passing = NO_FLAGS if asked.passing is None else asked.passing
    rule = WHOLE if asked.whole else MATCHING if plan.candidates == "matching" else AROUND
    commit = asked.cache.kernel_tables
    scratch = commit.take_scratch()
    numbers, total, valued = kernel.descend(
        known.shape, rule, plan.candidates == "all", slack, known.numbers, terms.table,
        np.array(known.bound.base(plan.terms)), terms.impacts, terms.starts, terms.cuts, commit.segments,
        commit.owners, commit.records, commit.sizes, known.lengths(), *known.log_collection_range(), most,
        adds, gaps, passing, NO_FLAGS if asked.chosen is None else asked.chosen, *scratch[:4],
        np.full(min(asked.k, asked.statistics.starts[-1]), -np.inf),
    )  # fmt: skip
    if asked.chosen is not None:
        valid = statics.has_value if statics is not None else None
        total = int(np.count_nonzero(asked.chosen if valid is None else asked.chosen & valid))
    elif rule != WHOLE:
        around = rule == AROUND
        total = kernel.holding(
            terms.cuts, commit.segments, terms.table, passing, adds, around, commit.begins, scratch.marks
        )
    commit.put_back(scratch)
    numbers.sort()
    return numbers, total, valued
