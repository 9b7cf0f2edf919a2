"""The best k sentences, without scoring those that a bound keeps out.

Every document with a candidate gets a bound of its best sentence's score (`esr.plans.bounds`), from its
terms' postings. Documents are looked at best bound first. It ends when no bound that is left reaches the k-th
score so far. Equal scores reach it, so the answer is the one that scoring everything gives, ties included.
Nothing is stored for it: the bounds come from the postings, whatever the plan's parameters.
"""

from __future__ import annotations

from esr.engines.embedded.search.kernel_loader import LOADER
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.embedded.search.top_k import TopK
from esr.engines.index import Filters
from esr.plans.plan import Plan
from esr.plans.unprunable import Unprunable


def search_pruned(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> TopK | Unprunable:
    """The answer, unless everything has to be scored."""
    if LOADER.kernel is None:
        return Unprunable(LOADER.reason)
    # Which a search from the command line does not need: it ends before the kernel is loaded.
    from esr.engines.embedded.search.query import bind
    from esr.engines.embedded.search.topk_numba import MAX_STATIC, topk_numba

    query = bind(plan, cache, k, filters)
    if isinstance(query, Unprunable):
        return query
    if query.statics is not None and query.statics.greatest > MAX_STATIC:
        return Unprunable(f"a prior or a feature adds more than {MAX_STATIC:g}")
    return topk_numba(LOADER.kernel, query)
