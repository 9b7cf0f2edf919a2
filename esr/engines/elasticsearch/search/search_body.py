"""The body of a search request for a plan: what esr sends, and what `esr query` prints."""

from __future__ import annotations

from typing import Any

from esr.engines.elasticsearch.search.score_query import score_query
from esr.engines.index import Filters, SentenceRecord
from esr.errors import UsageError
from esr.plans.plan import Mixture, Plan
from esr.plans.statistics import CollectionStatistics

RECORD_FIELDS = list(SentenceRecord._fields)
SORT: list[dict[str, str]] = [{"_score": "desc"}, {"ordinal": "asc"}]


def search_body(
    plan: Plan, collection: CollectionStatistics, filters: Filters, k: int, *, standalone: bool = False
) -> dict[str, Any]:
    """The body for `_search`. Raises UsageError for a standalone query of a model that has none."""
    if not plan.terms:
        raise UsageError("no document contains a term of the query: there is nothing to search for")
    if standalone and not isinstance(plan.transform, Mixture):
        raise UsageError("--standalone is for language models: other models need more than p(t|C)")
    query = score_query(plan, collection, filters, standalone=standalone).query
    return {"query": query, "size": k, "sort": SORT, "_source": RECORD_FIELDS}
