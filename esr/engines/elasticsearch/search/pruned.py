"""The best k sentences, without scoring those of documents that a bound keeps out.

1. The documents, best bound first (`bounding.py`), are asked for at the index of documents.
2. The candidates of the first of them are scored, by the scripts that score any.
3. Those of documents that are left and whose bound reaches the k-th score so far, too.

Equal scores reach the bound, so the answer is the one that scoring everything gives, ties included.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from esr.engines.elasticsearch.search.bounding import Bounded, bounded
from esr.engines.elasticsearch.search.request import whole_documents, with_scores
from esr.engines.elasticsearch.search.searching import PAGE, Search
from esr.engines.index import SearchResult
from esr.plans.plan import Plan
from esr.plans.statistics import Statistics

FIRST, A_HIT = 48, 2
"""Documents whose candidates are scored first: so many, and so many more for each hit that is asked for."""
LISTED, A_SCORED = 150, 2
"""Documents that are listed at first: so many, and so many more for each that is scored."""
GREATEST_K = 1000
"""For more hits nearly all documents would be looked at."""
FEW = 6000
"""Candidates that are scored at once: that takes no longer than another request."""


class _Document(NamedTuple):
    id: str
    bound: float


class _Listed(NamedTuple):
    """The best documents, best first; how many candidates there are; the most that is a bound of others, None
    if there are no others."""

    documents: list[_Document]
    total: int
    others: float | None


def pruned(search: Search, k: int, known: Statistics) -> SearchResult | str:
    """The answer, or why everything has to be scored. `known`: of the terms that make candidates."""
    if k > GREATEST_K:
        return f"more than {GREATEST_K:,} hits are asked for"
    why = _few(search.plan, known)
    query = bounded(search.plan, search.collection, search.filters, search.kept)
    if why is not None or isinstance(query, str):
        return why or str(query)
    first = FIRST + A_HIT * k
    documents, total, others = _listed(search, query, LISTED + A_SCORED * first)
    now, later = documents[:first], documents[first:]
    hits, scored = search.of_documents([document.id for document in now], k) if now else ([], 0)
    # Before there are k hits, no bound is too low.
    reach = query.reach(hits[-1].score) if len(hits) == k else -math.inf
    if others is not None and others >= reach:
        later = _found(search.ask(**_request(search, query, PAGE, reach)), query)
        if len(later) == PAGE:
            return f"{PAGE:,} documents or more may have one of the best sentences"
        done = {document.id for document in now}
        later = [document for document in later if document.id not in done]
    later = [document for document in later if document.bound >= reach]
    if later:
        more, also = search.of_documents([document.id for document in later], k)
        hits = sorted([*hits, *more], key=lambda hit: (-hit.score, hit.ordinal))[:k]
        scored += also
    return SearchResult(hits, total, search.incomplete, scored)


def _few(plan: Plan, known: Statistics) -> str | None:
    """Why a plan's candidates are all scored, where there seem to be few."""
    collection = known.collection
    seen = [known.terms[term] for term in plan.matching]
    if plan.candidates == "all":
        about = collection.sentences
    elif plan.candidates == "context" and plan.context == "document":
        about = round(sum(term.df for term in seen) * collection.sentences / max(collection.documents, 1))
    else:
        about = sum(term.sf for term in seen) * (1 if plan.candidates == "matching" else 3)
    return "there are few candidates" if about <= FEW else None


def _listed(search: Search, query: Bounded, size: int) -> _Listed:
    plan, filters = search.plan, search.filters
    asked, summed = _request(search, query, size), whole_documents(plan, filters)
    counted = {"index": search.cluster.alias, "size": 0, "track_total_hits": True}
    if summed:
        asked["aggs"] = {"total": {"sum": {"field": "size"}}}
        answer = search.ask(**asked)
        total = round(answer["aggregations"]["total"]["value"])
    else:
        answer, count = search.ask_both(asked, counted | {"query": with_scores(plan, filters)})
        total = count["hits"]["total"]["value"]
    found = _found(answer, query)
    return _Listed(found, total, found[-1].bound if len(found) == asked["size"] else None)


def _request(search: Search, query: Bounded, size: int, reach: float = -math.inf) -> dict[str, Any]:
    """For the best documents of those that reach so far."""
    least = reach - query.shift
    return {
        "index": search.cluster.documents_alias,
        "query": query.query,
        "size": min(size, PAGE),
        # Columns alone, as the parses of sentences are read: stored fields lie in blocks.
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}],
        "track_total_hits": False,
        **({"min_score": least} if least > 0 else {}),
    }


def _found(answer: Any, query: Bounded) -> list[_Document]:
    hits = answer["hits"]["hits"]
    return [_Document(hit["fields"]["document_id"][0], hit["_score"] + query.shift) for hit in hits]
