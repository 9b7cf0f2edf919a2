"""The best k sentences, without scoring those of documents that their bound rules out.

1. The index of documents lists the documents with the highest bounds (`bound_query.py`).
2. The candidates in the first of them are scored, by the scripts that score any candidate.
3. So are those in the other documents whose bound reaches the k-th score so far.

Equal scores reach the bound, so the result is that of scoring everything, ties included.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from esr.engines.elasticsearch.search.bound_query import BoundQuery, bound_query
from esr.engines.elasticsearch.search.candidate_query import (
    has_document_level_candidates,
    scored_candidate_query,
)
from esr.engines.elasticsearch.search.sentence_search import PAGE, Search
from esr.engines.index import Hit, SearchResult
from esr.plans.bounds import Unprunable
from esr.plans.plan import Plan
from esr.plans.statistics import Statistics

FIRST_DOCUMENTS, FIRST_PER_HIT = 48, 2
"""Documents whose candidates are scored first: a base, and so many more for each hit."""
LISTED_DOCUMENTS, LISTED_PER_FIRST = 150, 2
"""Documents that are listed at first: a base, and so many more for each whose candidates are scored first."""
MAX_K = 1000
"""With more hits, nearly all documents would be scored."""
FEW_CANDIDATES = 6000
"""Candidates that are simply all scored: that takes no longer than another request."""


class BoundedDocument(NamedTuple):
    id: str
    bound: float


class DocumentList(NamedTuple):
    """The documents with the highest bounds, and how many candidates the plan has.

    `greatest_unlisted` bounds the bounds of all other documents; None if there are no others.
    """

    documents: list[BoundedDocument]
    total: int
    greatest_unlisted: float | None


def search_pruned(search: Search, k: int, statistics: Statistics) -> SearchResult | Unprunable:
    """The result, or why everything has to be scored. `statistics` are those of the plan's matching terms."""
    if k > MAX_K:
        return Unprunable(f"more than {MAX_K:,} hits are requested")
    if _estimate_candidates(search, statistics) <= FEW_CANDIDATES:
        return Unprunable("there are few candidates")
    query = bound_query(search.plan, search.collection, search.filters, search.widening)
    if isinstance(query, Unprunable):
        return query
    first_size = FIRST_DOCUMENTS + FIRST_PER_HIT * k
    listed = _list_documents(search, query, LISTED_DOCUMENTS + LISTED_PER_FIRST * first_size)
    first, others = listed.documents[:first_size], listed.documents[first_size:]
    hits, scored = search.within_documents([document.id for document in first], k) if first else ([], 0)
    # As long as there are fewer than k hits, no bound is too low.
    least_bound = query.least_bound(hits[-1].score) if len(hits) == k else -math.inf
    if listed.greatest_unlisted is not None and listed.greatest_unlisted >= least_bound:
        reaching = _documents(search.send(**_request(search, query, PAGE, least_bound)), query)
        if len(reaching) == PAGE:
            return Unprunable(f"{PAGE:,} or more documents may contain one of the best sentences")
        scored_ids = {document.id for document in first}
        others = [document for document in reaching if document.id not in scored_ids]
    others = [document for document in others if document.bound >= least_bound]
    if others:
        other_hits, other_scored = search.within_documents([document.id for document in others], k)
        hits = _merge_hits(hits, other_hits, k)
        scored += other_scored
    return SearchResult(hits, listed.total, search.incomplete, scored)


def _merge_hits(hits: list[Hit], others: list[Hit], k: int) -> list[Hit]:
    return sorted([*hits, *others], key=lambda hit: (-hit.score, hit.ordinal))[:k]


def _estimate_candidates(search: Search, statistics: Statistics) -> int:
    """How many candidates there are, at most; a condition may leave so few of them that they are counted."""
    at_most = _estimate_matches(search.plan, statistics)
    if search.plan.condition is None or at_most <= FEW_CANDIDATES:
        return at_most
    query = scored_candidate_query(search.plan, search.filters)
    hits = search.send(query=query, size=0, track_total_hits=FEW_CANDIDATES + 1)["hits"]
    return int(hits["total"]["value"])


def _estimate_matches(plan: Plan, statistics: Statistics) -> int:
    collection = statistics.collection
    terms = [statistics.terms[term] for term in plan.candidate_terms]
    if plan.candidates == "all":
        return collection.sentences
    if plan.candidates == "context" and plan.context == "document":
        return round(sum(term.df for term in terms) * collection.sentences / max(collection.documents, 1))
    return sum(term.sf for term in terms) * (1 if plan.candidates == "matching" else 3)


def _list_documents(search: Search, query: BoundQuery, size: int) -> DocumentList:
    plan, filters = search.plan, search.filters
    request = _request(search, query, size)
    if has_document_level_candidates(plan, filters):
        request["aggs"] = {"total": {"sum": {"field": "size"}}}
        answer = search.send(**request)
        total = round(answer["aggregations"]["total"]["value"])
    else:
        count_request = {
            "index": search.cluster.alias,
            "size": 0,
            "track_total_hits": True,
            "query": scored_candidate_query(plan, filters),
        }
        answer, count = search.send_together(request, count_request)
        total = count["hits"]["total"]["value"]
    documents = _documents(answer, query)
    is_full = len(documents) == request["size"]
    return DocumentList(documents, total, documents[-1].bound if is_full else None)


def _request(search: Search, query: BoundQuery, size: int, least_bound: float = -math.inf) -> dict[str, Any]:
    """A request for the documents with the highest bounds, from `least_bound` on."""
    min_score = least_bound - query.shift
    return {
        "index": search.cluster.documents_alias,
        "query": query.query,
        "size": min(size, PAGE),
        # Doc values alone, as when parses are read: stored fields lie in blocks with complete texts.
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}],
        "track_total_hits": False,
        **({"min_score": min_score} if min_score > 0 else {}),
    }


def _documents(answer: Any, query: BoundQuery) -> list[BoundedDocument]:
    return [
        BoundedDocument(hit["fields"]["document_id"][0], hit["_score"] + query.shift)
        for hit in answer["hits"]["hits"]
    ]
