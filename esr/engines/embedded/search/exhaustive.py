"""The best k sentences by scoring every candidate: where there is no bound, and what pruning is held to."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search import gather
from esr.engines.embedded.search.asked import Best
from esr.engines.index import Filters
from esr.engines.segments.reader.snapshot import Snapshot
from esr.plans.evaluate import scores
from esr.plans.plan import Plan
from esr.plans.top_k import top_k


def exhaustive(plan: Plan, snapshot: Snapshot, k: int, filters: Filters) -> Best:
    """The answer, from the evidence of all candidates."""
    columns = [static.column for static in plan.statics]
    terms = [term.term for term in plan.terms]
    numbers, values = [np.zeros(0, np.int64)], [np.zeros(0)]
    scored = 0
    for owner, segment in enumerate(snapshot.segments):
        at = gather.candidates(plan, segment, filters)
        importance = gather.importance_columns(snapshot, columns, owner)
        got = scores(plan, gather.evidence(terms, plan.transform.fields(), columns, segment, importance, at))
        valued = np.flatnonzero(np.isfinite(got))
        scored += len(at)
        numbers.append(at[valued] + snapshot.statistics.starts[owner])
        values.append(got[valued])
    every, score = np.concatenate(numbers), np.concatenate(values)
    chosen = top_k(score, k)
    return Best(every[chosen], score[chosen], len(score), scored)
