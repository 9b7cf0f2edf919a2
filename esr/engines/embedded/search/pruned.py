"""The best k sentences, without scoring those that a bound keeps out.

Every document with a candidate gets a bound of its best sentence's score (`esr.plans.bounds`), from its
terms' postings. Documents are looked at best bound first. It ends when no bound that is left reaches the k-th
score so far. Equal scores reach it, so the answer is the one that scoring everything gives, ties included.
Nothing is stored for it: the bounds come from the postings, whatever the plan's parameters.
"""

from __future__ import annotations

from esr.engines.embedded.search.asked import Best, asked
from esr.engines.embedded.search.chunks import in_chunks
from esr.engines.embedded.search.compiled import compiled, covered
from esr.engines.embedded.search.kernel_loader import LOADER
from esr.engines.embedded.search.search_cache import SearchCache
from esr.engines.index import Filters
from esr.plans.bounds import Unprunable
from esr.plans.plan import Plan


def pruned(plan: Plan, cache: SearchCache, k: int, filters: Filters) -> Best | Unprunable:
    """The answer, unless everything has to be scored."""
    ready = asked(plan, cache, k, filters)
    if isinstance(ready, Unprunable):
        return ready
    if LOADER.kernel is not None and covered(ready):
        return compiled(LOADER.kernel, ready)
    with LOADER.searching():
        return in_chunks(ready)
