"""Lists the documents with the highest bounds, page by page."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from esr.engines.elasticsearch.search.bound_query import BoundQuery
from esr.engines.elasticsearch.search.candidate_query import (
    has_document_level_candidates,
    scored_candidate_query,
)
from esr.engines.elasticsearch.search.search_body import SORT
from esr.engines.elasticsearch.search.sentence_search import Search

_TERMLESS = "termless"
"""The name of the query that bounds the sentences without a term."""


class BoundedDocument(NamedTuple):
    """A document, the bound of its sentences, and that of its sentences that do not contain any term.

    The second is infinite where it is not known.
    """

    id: str
    bound: float
    termless_bound: float


class DocumentPage(NamedTuple):
    """Documents in order of falling bounds.

    `after` are sort values if there may be others, whose bounds are not higher; else None.
    """

    documents: list[BoundedDocument]
    after: list[float] | None


class BoundQueries(NamedTuple):
    """The query for all sentences, and that for those without a term, if they are bounded on their own."""

    all: BoundQuery
    termless: BoundQuery | None


def list_documents(search: Search, queries: BoundQueries, size: int) -> tuple[DocumentPage, int]:
    """The documents with the highest bounds, and how many candidates the plan has."""
    plan, filters = search.plan, search.filters
    request = _request(search, queries, size)
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
    return _page(answer, queries, size), total


def list_more_documents(
    search: Search, queries: BoundQueries, size: int, page: DocumentPage, least_bound: float
) -> tuple[DocumentPage, int]:
    """The documents after this page whose bound is at least `least_bound`, and how many have such a bound.

    After a first page, documents of it whose bound equals that of its last one may be among them again.
    """
    request = _request(search, queries, size)
    request |= {"sort": SORT, "search_after": page.after, "track_total_hits": True}
    if (min_score := least_bound - queries.all.shift) > 0:
        request["min_score"] = min_score
    answer = search.send(**request)
    return _page(answer, queries, size), answer["hits"]["total"]["value"]


def _request(search: Search, queries: BoundQueries, size: int) -> dict[str, Any]:
    """Without a sort, which takes Elasticsearch a third longer for a first page."""
    request = {
        "index": search.cluster.documents_alias,
        "query": queries.all.query,
        "size": size,
        # Doc values alone, as when parses are read: stored fields lie in blocks with complete texts.
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}],
        "track_total_hits": False,
    }
    if queries.termless is not None:
        # An optional clause of a filter decides nothing, so it is not run for what matches. But it has a
        # name, so Elasticsearch scores the documents of the answer by it.
        named = {"bool": {"should": [queries.termless.query], "_name": _TERMLESS}}
        optional = {"bool": {"filter": [{"match_all": {}}], "should": [named]}}
        request["query"] = {"bool": {"must": [queries.all.query], "filter": [optional]}}
        request["include_named_queries_score"] = True
    return request


def _page(answer: Any, queries: BoundQueries, size: int) -> DocumentPage:
    hits, shift, termless = answer["hits"]["hits"], queries.all.shift, queries.termless
    ids = [hit["fields"]["document_id"][0] for hit in hits]
    bounds = [hit["_score"] + shift for hit in hits]
    if termless is None:
        termless_bounds = [math.inf] * len(hits)
    else:
        termless_bounds = [hit["matched_queries"][_TERMLESS] + termless.shift for hit in hits]
    after = None
    if len(hits) == size:
        # A first page has no sort values: all with the bound of its last document come after it.
        after = hits[-1].get("sort", [hits[-1]["_score"], -1])
    return DocumentPage(list(map(BoundedDocument, ids, bounds, termless_bounds)), after)
