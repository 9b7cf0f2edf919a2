"""Lists the documents with the highest bounds, page by page."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.elasticsearch.cluster.requests import NAMED_SCORES
from esr.engines.elasticsearch.search.bound_query import BoundQuery, NearQueries
from esr.engines.elasticsearch.search.filter_clauses import Query
from esr.engines.elasticsearch.search.named_scores import with_named_scores
from esr.engines.elasticsearch.search.search_body import SORT
from esr.engines.elasticsearch.search.sentence_search import Search
from esr.plans.bounds import Numbers
from esr.plans.evidence import Array

_FAR, _LIFT = "far", "lift"
"""The names of the queries for what sentences get by the number of terms near them."""


class BoundedDocuments(NamedTuple):
    """Documents, the bounds of their sentences, and those of sentences with n of the terms near: `far` + n
    `lift`. Columns of one length; the last two are infinite where they are not known.
    """

    ids: npt.NDArray[np.object_]
    bounds: Array
    far: Array
    lift: Array

    def select(self, which: npt.NDArray[np.bool_]) -> BoundedDocuments:
        return BoundedDocuments(self.ids[which], self.bounds[which], self.far[which], self.lift[which])

    def join(self, others: BoundedDocuments) -> BoundedDocuments:
        return BoundedDocuments(
            np.append(self.ids, others.ids),
            np.append(self.bounds, others.bounds),
            np.append(self.far, others.far),
            np.append(self.lift, others.lift),
        )

    def least_terms(self, bound: float, most: int) -> Numbers:
        """How many terms, at least, are near a sentence that has this bound; `most` + 1 if too many."""
        lacking = bound - self.far
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.ceil(lacking / self.lift)
        return np.where(lacking <= 0, 0, np.clip(terms, 1, most + 1)).astype(np.intp)


NO_DOCUMENTS = BoundedDocuments(np.empty(0, object), *(np.empty(0) for _ in range(3)))


class DocumentPage(NamedTuple):
    """Documents in order of falling bounds.

    `after` are sort values if there may be others, whose bounds are not higher; else None.
    """

    documents: BoundedDocuments
    after: list[float] | None


class BoundQueries(NamedTuple):
    """The query for all sentences, and those by the terms near them.

    The latter are None where every candidate contains a term: there are few in a document, so to know less is
    faster.
    """

    all: BoundQuery
    near: NearQueries | None


def list_documents(search: Search, queries: BoundQueries, size: int) -> DocumentPage:
    """The documents with the highest bounds."""
    request = _request(search, queries.all.query, queries.near, size)
    return _page(search.send(**request), queries, size)


def next_page_request(
    search: Search, queries: BoundQueries, size: int, page: DocumentPage, least_bound: float
) -> dict[str, Any]:
    """Lists the documents after this page whose bound is at least `least_bound`: see `read_next_page`.

    After a first page, documents of it whose bounds are those of its last ones may be among them again.
    """
    request = _request(search, queries.all.query, queries.near, size)
    request |= {"sort": SORT, "search_after": page.after, "track_total_hits": True}
    if (min_score := least_bound - queries.all.shift) > 0:
        request["min_score"] = min_score
    return request


def read_next_page(answer: Any, queries: BoundQueries, size: int) -> tuple[DocumentPage, int]:
    """The documents in the answer to `next_page_request`, and how many have such a bound."""
    return _page(answer, queries, size), answer["hits"]["total"]["value"]


def _request(search: Search, query: Query, near: NearQueries | None, size: int) -> dict[str, Any]:
    """Without a sort, which takes Elasticsearch a third longer for a first page."""
    request = {
        "index": search.cluster.documents_alias,
        "query": query,
        "size": size,
        # Doc values alone, as when parses are read: stored fields lie in blocks with complete texts.
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}],
        "track_total_hits": False,
    }
    if near is not None:
        others = {_FAR: near.far.query} | ({} if near.lift is None else {_LIFT: near.lift})
        request["query"] = with_named_scores(query, others)
        request[NAMED_SCORES] = True
    return request


def _page(answer: Any, queries: BoundQueries, size: int) -> DocumentPage:
    hits, (all, near) = answer["hits"]["hits"], queries
    ids = np.array([hit["fields"]["document_id"][0] for hit in hits], object)
    bounds = np.array([hit["_score"] for hit in hits]) + all.shift
    far = lift = np.full(len(hits), math.inf)
    if near is not None:
        scores = [hit["matched_queries"] for hit in hits]
        far = np.array([of_document[_FAR] for of_document in scores]) + near.far.shift
        if near.lift is not None:
            # A document that lacks all terms matches where every sentence is a candidate.
            lift = near.lift_per_term(np.array([of_document.get(_LIFT, 0.0) for of_document in scores]))
    after = None
    if len(hits) == size:
        # A first page has no sort values. Its sums may be rounded in another way than those of the next.
        score = hits[-1]["_score"]
        after = hits[-1].get("sort", [score + all.rounding_margin * (1 + abs(score)), -1])
    return DocumentPage(BoundedDocuments(ids, bounds, far, lift), after)
