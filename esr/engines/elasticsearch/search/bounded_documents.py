"""Lists the documents with the highest bounds, page by page."""

from __future__ import annotations

from typing import Any, NamedTuple

from esr.engines.elasticsearch.search.bound_query import BoundQuery
from esr.engines.elasticsearch.search.candidate_query import (
    has_document_level_candidates,
    scored_candidate_query,
)
from esr.engines.elasticsearch.search.search_body import SORT
from esr.engines.elasticsearch.search.sentence_search import Search


class BoundedDocument(NamedTuple):
    id: str
    bound: float


class DocumentPage(NamedTuple):
    """Documents in order of falling bounds, then in collection order.

    `sort` are the sort values of the last one if there may be others, whose bounds are not higher; else None.
    """

    documents: list[BoundedDocument]
    sort: list[Any] | None


def list_documents(search: Search, query: BoundQuery, size: int) -> tuple[DocumentPage, int]:
    """The documents with the highest bounds, and how many candidates the plan has."""
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
    return _page(answer, query, size), total


def list_more_documents(
    search: Search, query: BoundQuery, size: int, after: list[Any], least_bound: float
) -> tuple[DocumentPage, int]:
    """The next documents whose bound is at least `least_bound`, and how many documents have such a bound."""
    request = _request(search, query, size) | {"search_after": after, "track_total_hits": True}
    if (min_score := least_bound - query.shift) > 0:
        request["min_score"] = min_score
    answer = search.send(**request)
    return _page(answer, query, size), answer["hits"]["total"]["value"]


def _request(search: Search, query: BoundQuery, size: int) -> dict[str, Any]:
    return {
        "index": search.cluster.documents_alias,
        "query": query.query,
        "size": size,
        "sort": SORT,
        # Doc values alone, as when parses are read: stored fields lie in blocks with complete texts.
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}],
        "track_total_hits": False,
    }


def _page(answer: Any, query: BoundQuery, size: int) -> DocumentPage:
    hits = answer["hits"]["hits"]
    documents = [
        BoundedDocument(hit["fields"]["document_id"][0], hit["_score"] + query.shift) for hit in hits
    ]
    return DocumentPage(documents, hits[-1]["sort"] if len(hits) == size else None)
