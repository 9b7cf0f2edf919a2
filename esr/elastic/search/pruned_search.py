"""Searches for the best k sentences, scoring only candidates whose upper bounds reach the k-th score.

If sentences store bounds for the plan, sentences are listed by these (`search_bounded`), otherwise documents
(`_search_documents`). Bounds equal to the k-th score reach it, so the result is that of an exhaustive search,
ties included. (The order in which Elasticsearch sums is undefined: if the other terms add 2**29 times as
much, a term may or may not change the last of 32 bits.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.elastic.dialect import NAMED_SCORES
from esr.elastic.documents import decode_sentence
from esr.elastic.requests import hits_of, total_of
from esr.elastic.search import plan_query
from esr.elastic.search.plan_query import (
    DocumentPart,
    Query,
    TermRange,
    document_rule_clause,
    filter_clauses,
    group_parts,
    has_document_level_candidates,
    part_clause,
    scored_candidate_query,
)
from esr.elastic.search.sentence_search import PAGE, Search, decode_hit, hit_fields
from esr.index.filters import NO_FILTERS
from esr.index.hits import Hit, SearchResult
from esr.plans.bounds import Numbers
from esr.plans.evaluate import Array
from esr.plans.plan import Plan, Statistics, Unprunable

_FAR, _IMPACT = "far", "lift"
"""The names of the queries for bounds by the number of terms near a sentence."""


class BoundedDocuments(NamedTuple):
    """Documents with bounds: of all sentences, and of sentences with n terms near them, `far` + n `impact`.

    Columns of one length. `far` and `impact` are infinite where unknown.
    """

    ids: npt.NDArray[np.object_]
    bounds: Array
    far: Array
    impact: Array

    def select(self, mask: npt.NDArray[np.bool_]) -> BoundedDocuments:
        return BoundedDocuments(self.ids[mask], self.bounds[mask], self.far[mask], self.impact[mask])

    def join(self, others: BoundedDocuments) -> BoundedDocuments:
        return BoundedDocuments(
            np.append(self.ids, others.ids),
            np.append(self.bounds, others.bounds),
            np.append(self.far, others.far),
            np.append(self.impact, others.impact),
        )

    def least_terms(self, bound: float, most: int) -> Numbers:
        """For each document, the least number of terms near a sentence that reaches this bound.

        It is `most` + 1 if more than `most` are necessary.
        """
        lacking = bound - self.far
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.ceil(lacking / self.impact)
        return np.where(lacking <= 0, 0, np.clip(terms, 1, most + 1)).astype(np.intp)


NO_DOCUMENTS = BoundedDocuments(np.empty(0, object), *(np.empty(0) for _ in range(3)))


class DocumentPage(NamedTuple):
    """Documents in order of descending bounds.

    `after` are the sort values for the next page, None if there is none. The next page's bounds are not
    higher.
    """

    documents: BoundedDocuments
    after: list[float] | None


class BoundQueries(NamedTuple):
    """The query for all sentences, and those by the number of terms near them.

    `near` is None if every candidate contains a term: a document has few such sentences, so the simpler query
    is faster.
    """

    all: plan_query.BoundQuery
    near: plan_query.NearQueries | None


def list_documents(search: Search, queries: BoundQueries, size: int) -> DocumentPage:
    """The documents with the highest bounds."""
    request = _document_request(search, queries.all.query, queries.near, size)
    return _page(search.send(**request), queries, size)


def next_page_request(
    search: Search, queries: BoundQueries, size: int, page: DocumentPage, least_bound: float
) -> dict[str, Any]:
    """The request for the documents after this page whose bound is at least `least_bound` (`read_next_page`).

    After a first page, it may repeat documents of that page whose bounds equal its last ones.
    """
    request = _document_request(search, queries.all.query, queries.near, size)
    request |= {"sort": plan_query.SORT, "search_after": page.after, "track_total_hits": True}
    if (min_score := least_bound - queries.all.shift) > 0:
        request["min_score"] = min_score
    return request


def read_next_page(answer: Any, queries: BoundQueries, size: int) -> tuple[DocumentPage, int]:
    """The documents in the answer to `next_page_request`, and the total number with such a bound."""
    return _page(answer, queries, size), total_of(answer)


def _document_request(
    search: Search, query: Query, near: plan_query.NearQueries | None, size: int
) -> dict[str, Any]:
    """The request for documents by bound. It has no sort, which takes a third longer for a first page."""
    request = {
        "index": search.cluster.documents_alias,
        "query": query,
        "size": size,
        # Doc values alone, as for parses: stored fields share blocks with complete texts.
        "stored_fields": "_none_",
        "docvalue_fields": [{"field": "document_id"}],
        "track_total_hits": False,
    }
    if near is not None:
        others = {_FAR: near.far.query} | ({} if near.impact is None else {_IMPACT: near.impact})
        request["query"] = plan_query.with_named_scores(query, others)
        request[NAMED_SCORES] = True
    return request


def _page(answer: Any, queries: BoundQueries, size: int) -> DocumentPage:
    hits, (all, near) = hits_of(answer), queries
    ids = np.array([hit["fields"]["document_id"][0] for hit in hits], object)
    bounds = np.array([hit["_score"] for hit in hits]) + all.shift
    far = impact = np.full(len(hits), math.inf)
    if near is not None:
        scores = [hit["matched_queries"] for hit in hits]
        far = np.array([of_document[_FAR] for of_document in scores]) + near.far.shift
        if near.impact is not None:
            # If every sentence is a candidate, documents without any of the terms match too.
            impact = near.impact_per_term(np.array([of_document.get(_IMPACT, 0.0) for of_document in scores]))
    after = None
    if len(hits) == size:
        # A first page has no sort values. Its sums may be rounded differently from those of the next.
        score = hits[-1]["_score"]
        after = hits[-1].get("sort", [score + all.rounding_margin * (1 + abs(score)), -1])
    return DocumentPage(BoundedDocuments(ids, bounds, far, impact), after)


_TOTAL = "total"


def count_request(search: Search) -> dict[str, Any]:
    """The request that counts the candidates (`read_count`)."""
    plan, filters = search.plan, search.filters
    request: dict[str, Any] = {"index": search.cluster.alias, "size": 0, "track_total_hits": True}
    if has_document_level_candidates(plan, search.collection, filters):
        query = {"bool": {"filter": [document_rule_clause(plan), *filter_clauses(filters, of="documents")]}}
        request |= {"index": search.cluster.documents_alias, "query": query, "track_total_hits": False}
        return request | {"aggs": {_TOTAL: {"sum": {"field": "size"}}}}
    return request | {"query": scored_candidate_query(plan, filters)}


def read_count(answer: Any) -> int:
    """The number of candidates in the answer to `count_request`."""
    if "aggregations" in answer:
        return int(answer["aggregations"][_TOTAL]["value"])
    return total_of(answer)


FIRST_SENTENCES, FIRST_SENTENCES_PER_HIT, FIRST_PER_HIT_AND_TERM = 4, 1.6, 0.3
"""Sentences listed first: a base, an amount per hit, and one per hit and term."""
SLACK_GROWTH = 2.0
"""If each term adds the slack x to bounds, exp(2 x) times as many sentences are listed first."""
LEAST_GROWTH, GREATEST_GROWTH = 1.25, 8.0
"""Limits of the factor by which the number of listed sentences grows."""
_SCORE, _ORDINAL = "score", "ordinal"


def search_bounded(search: Search, k: int, bounds: plan_query.BoundQuery) -> SearchResult | None:
    """The best k sentences by the bounds of sentences; None if too many bounds reach the k-th score.

    One request lists the sentences with the highest bounds and scores them. If the last bound reaches the
    k-th score, the next request lists more. Elasticsearch skips sentences that cannot be listed.
    """
    query, shift = plan_query.score_query(search.plan, search.collection, NO_FILTERS, is_own=True)
    request = _sentence_request(search, bounds.query, query)
    size, total = first_size(search, k), None
    while True:
        request["size"] = size
        if total is None:
            answer, counted = search.send_together(request, count_request(search))
            total = read_count(counted)
        else:
            answer = search.send(**request)
        listed = hits_of(answer)
        hits = read_scored(listed, shift)
        if len(listed) < size or len(hits) >= total or answer["timed_out"]:
            break
        least = bounds.least_bound(hits[k - 1].score) - bounds.shift if len(hits) >= k else -math.inf
        if listed[-1]["_score"] < least:
            break
        if size == PAGE:
            return None
        size = min(next_size([hit["_score"] for hit in listed], least), PAGE)
    best = hits[:k]
    if search.records and best:
        best = _with_records(search, best)
    return SearchResult(best, total, search.incomplete, len(hits))


def first_size(search: Search, k: int) -> int:
    """The number of sentences to list first, which grows with the number of terms and the slack of bounds."""
    terms, slack = search.plan.terms, search.slack
    per_hit = FIRST_SENTENCES_PER_HIT + FIRST_PER_HIT_AND_TERM * len(terms)
    if slack is not None:
        per_hit *= math.exp(SLACK_GROWTH * slack.mean(terms))
    return min(round(FIRST_SENTENCES + per_hit * k), PAGE)


def next_size(bounds: Sequence[float], least: float) -> int:
    """An estimate of the number of bounds of at least `least`. It doubles with each further fall.

    A fall is the difference between the middle of the listed bounds and the last one.
    """
    last = bounds[-1]
    fall = bounds[len(bounds) // 2] - last
    doublings = (last - least) / fall if fall > 0 else math.inf
    growth = math.pow(2.0, min(doublings, 10.0))
    return math.ceil(len(bounds) * min(max(growth, LEAST_GROWTH), GREATEST_GROWTH))


def _sentence_request(search: Search, bounds: Query, score: Query) -> dict[str, Any]:
    fields = hit_fields(records=False)  # records are read only for the best
    # Without a sort, which takes Elasticsearch a fifth longer.
    return {
        "index": search.cluster.alias,
        "query": plan_query.with_named_scores(bounds, {_SCORE: score}),
        "track_total_hits": False,
        **fields,
        "docvalue_fields": [*fields["docvalue_fields"], {"field": _ORDINAL}],
        NAMED_SCORES: True,
    }


def read_scored(listed: list[Any], shift: float) -> list[Hit]:
    """The listed sentences that are candidates, best first."""
    hits = []
    for hit in listed:
        scores = hit.get("matched_queries")
        if scores:
            hits.append(decode_hit(hit, False, scores[_SCORE] + shift, hit["fields"][_ORDINAL][0]))
    hits.sort(key=lambda hit: (-hit.score, hit.ordinal))
    return hits


_WORTH_HALVING = 8
"""Number of hits above which two searches read records at once. A server unpacks a block for each."""


def _with_records(search: Search, hits: list[Hit]) -> list[Hit]:
    """The hits with their records, without hits whose shard has failed since."""
    ids = [hit.sentence_id for hit in sorted(hits, key=lambda hit: hit.ordinal)]
    middle = len(ids) // 2 if len(ids) > _WORTH_HALVING else len(ids)
    index, fields = search.cluster.alias, hit_fields(records=True)
    requests = [
        {"index": index, "query": {"ids": {"values": part}}, "size": len(part), **fields}
        for part in (ids[:middle], ids[middle:])
        if part
    ]
    answers = search.send_together(*({"track_total_hits": False, **request} for request in requests))
    records = {hit["_id"]: decode_sentence(hit["_source"]) for answer in answers for hit in hits_of(answer)}
    return [hit._replace(record=records[hit.sentence_id]) for hit in hits if hit.sentence_id in records]


FIRST_DOCUMENTS, FIRST_DOCUMENTS_PER_HIT = 30, 3
"""Number of documents listed and scored first: a base, and an amount per hit."""
EXPECTED_BELOW = 0.1
"""The expected distance of the k-th score below the last of the first bounds, as a share of their range."""
NEXT_DOCUMENTS, NEXT_GROWTH = 2000, 4
"""Number of documents listed next, and the growth factor of each further step."""
MAX_K = 1000
"""Number of hits above which nearly all documents would be scored."""
FEW_CANDIDATES = 6000
"""Number of candidates up to which all are scored, which takes no longer than another request."""
MANY_DOCUMENTS, MANY_SHARE = 10_000, 0.25
"""A number and a share of the documents. If more than both reach the k-th score, all are scored."""


@dataclass
class _BestSentences:
    """The best k of the candidates scored so far.

    `_partly` holds the documents of which only the sentences with at least `_scored_from` terms near them are
    scored.
    """

    search: Search
    queries: BoundQueries
    k: int
    hits: list[Hit] = field(default_factory=list)
    scored: int = 0
    total: int | None = None
    """The number of candidates. They are counted in the request that scores the first ones."""
    least_bound: float = -math.inf
    """The bound that a document needs to have a sentence among the best k."""
    _least_near_bound: float = -math.inf
    """The same for the bounds of `BoundedDocuments.least_terms`."""
    _reached: set[str] = field(default_factory=set)
    _partly: BoundedDocuments = NO_DOCUMENTS
    _scored_from: Numbers = field(default_factory=lambda: np.empty(0, np.intp))

    def score(self, documents: BoundedDocuments) -> None:
        """Score the candidates of the documents that can have one of the best sentences."""
        reached = self._reached
        is_new = np.array([id not in reached for id in documents.ids], bool)
        reaching = documents.select(is_new & (documents.bounds >= self.least_bound))
        reached.update(reaching.ids)
        least = self._least_near_bound
        if math.isinf(least) and len(reaching.ids):
            least = _expected_score(reaching.bounds)
        nothing_yet = np.full(len(reaching.ids), len(self.search.plan.terms) + 1)
        scored_from = np.append(self._scored_from, nothing_yet)
        beside = count_request(self.search) if self.total is None else None
        answer = self._score(self._partly.join(reaching), scored_from, least, beside)
        if beside is not None:
            self.total = read_count(answer)

    def finish(self, beside: dict[str, Any] | None = None) -> Any:
        """Score the remaining sentences that can be among the best. Returns the answer to `beside`."""
        return self._score(self._partly, self._scored_from, self._least_near_bound, beside)

    def _score(
        self,
        documents: BoundedDocuments,
        scored_from: Numbers,
        least_bound: float,
        beside: dict[str, Any] | None,
    ) -> Any:
        """Score the sentences that reach the bound, except those scored before.

        For each document, `scored_from` is the least number of terms near the sentences that are already
        scored. `beside` is another request to send together with this one. Returns the answer to `beside`.
        """
        terms = [term.term for term in self.search.plan.terms]
        least = np.minimum(documents.least_terms(least_bound, len(terms)), scored_from)
        parts = []
        for start, end in sorted(set(zip(least.tolist(), scored_from.tolist(), strict=True))):
            if start < end:
                ids = documents.ids[(least == start) & (scored_from == end)]
                parts.append(DocumentPart(ids.tolist(), TermRange(start, end)))
        self._partly, self._scored_from = documents.select(least > 0), least[least > 0]
        if not parts:
            return None if beside is None else self.search.send(**beside)
        near = self.queries.near
        answers: list[Any] = []
        for group in group_parts(len(terms), parts):
            clause = part_clause(terms, "sentence" if near is None else near.field, group)
            hits, scored, answer = self.search.within(clause, self.k, None if answers else beside)
            answers.append(answer)
            self.scored += scored
            self.hits = sorted([*self.hits, *hits], key=lambda hit: (-hit.score, hit.ordinal))[: self.k]
        # With fewer than k hits, no document can be ruled out.
        if len(self.hits) == self.k:
            score = self.hits[-1].score
            self.least_bound = self.queries.all.least_bound(score)
            if near is not None:
                self._least_near_bound = near.far.least_bound(score)
        return answers[0]


def _expected_score(bounds: Array) -> float:
    """An estimate of the k-th score, given the highest bounds of documents, in descending order."""
    first, last = bounds[0], bounds[-1]
    return float(last - EXPECTED_BELOW * (first - last))


def search_pruned(search: Search, k: int, statistics: Statistics) -> SearchResult | Unprunable:
    """The result, or why every candidate has to be scored. `statistics` are those of the matching terms."""
    if not search.plan.terms and not search.plan.static_scores:
        return Unprunable("the query has nothing to rank by")
    if k > MAX_K:
        return Unprunable(f"more than {MAX_K:,} hits are requested")
    if _estimate_candidates(search, statistics) <= FEW_CANDIDATES:
        return Unprunable("there are few candidates")
    return _search_sentences(search, k) or _search_documents(search, k, statistics.collection.documents)


def _search_sentences(search: Search, k: int) -> SearchResult | None:
    """The result by the bounds of sentences; None if the plan has none, or they prune too little."""
    if search.slack is None:
        return None
    bounds = plan_query.sentence_bounds(search.plan, search.filters, search.slack)
    return None if bounds is None else search_bounded(search, k, bounds)


def _search_documents(search: Search, k: int, documents: int) -> SearchResult | Unprunable:
    """The result by the bounds of documents. `documents` is the number of all documents.

    1. The index of documents lists the documents with the highest bounds.
    2. Their candidates are scored, by the scripts that score any candidate.
    3. While the bound of the last listed document reaches the k-th score so far, the next documents that
       reach it are listed, in one request with scoring the remaining sentences of the others. Then they are
       scored.

    Of a document, only sentences with enough terms near them to reach the k-th score are scored.
    """
    queries = _bound_queries(search)
    if isinstance(queries, Unprunable):
        return queries
    page = list_documents(search, queries, min(FIRST_DOCUMENTS + FIRST_DOCUMENTS_PER_HIT * k, PAGE))
    best = _BestSentences(search, queries, k)
    best.score(page.documents)
    many = max(MANY_DOCUMENTS, MANY_SHARE * documents)
    size = NEXT_DOCUMENTS
    while page.after is not None and page.documents.bounds[-1] >= best.least_bound:
        if math.isinf(best.least_bound):
            best.finish()  # with fewer than k hits, all documents would be listed
        least_bound = best.least_bound
        answer = best.finish(beside=next_page_request(search, queries, size, page, least_bound))
        next_page, reaching = read_next_page(answer, queries, size)
        if reaching <= many:
            page = next_page
            best.score(page.documents)
            size = min(size * NEXT_GROWTH, PAGE)
        elif best.least_bound == least_bound:
            return Unprunable("most documents may contain one of the best sentences")
    best.finish()
    return SearchResult(best.hits, best.total or 0, search.incomplete, best.scored)


def _bound_queries(search: Search) -> BoundQueries | Unprunable:
    query = plan_query.bound_query(search.plan, search.collection, search.filters)
    if isinstance(query, Unprunable):
        return query
    near = (
        None
        if search.plan.candidates == "matching"
        else plan_query.near_queries(search.plan, search.collection)
    )
    return BoundQueries(query, near)


def _estimate_candidates(search: Search, statistics: Statistics) -> int:
    """An upper estimate of the candidates. With a condition, they are counted, up to a limit."""
    at_most = _estimate_matches(search.plan, statistics)
    if search.plan.condition is None or at_most <= FEW_CANDIDATES:
        return at_most
    query = scored_candidate_query(search.plan, search.filters)
    return total_of(search.send(query=query, size=0, track_total_hits=FEW_CANDIDATES + 1))


def _estimate_matches(plan: Plan, statistics: Statistics) -> int:
    collection = statistics.collection
    terms = [statistics.terms[term] for term in plan.candidate_terms]
    if plan.candidates == "all":
        return collection.sentences
    if plan.candidates == "context" and plan.context == "document":
        return round(sum(term.df for term in terms) * collection.sentences / max(collection.documents, 1))
    return sum(term.sf for term in terms) * (1 if plan.candidates == "matching" else 3)
