"""The best k sentences, without scoring those that a bound rules out.

If sentences store bounds for the plan, they are listed by these (`bounded_sentences.py`). Otherwise:

1. The index of documents lists the documents with the highest bounds (`bound_query.py`).
2. The candidates in them are scored, by the scripts that score any candidate.
3. As long as the bound of the last listed document reaches the k-th score so far, the next documents are
   listed that reach it, together with scoring what was left out of the others, and then scored.

Of a document, only the sentences are scored that have enough of the terms near them to reach the k-th score.

Equal scores reach the bound, so the result is that of scoring everything, ties included. (Elasticsearch
sums up in an order of its own: what a term adds may change the last of 32 bits or not, if the others add
2**29 times as much.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from esr.engines.elasticsearch.search.bound_query import bound_query, near_queries
from esr.engines.elasticsearch.search.bounded_documents import (
    NO_DOCUMENTS,
    BoundedDocuments,
    BoundQueries,
    list_documents,
    next_page_request,
    read_next_page,
)
from esr.engines.elasticsearch.search.bounded_sentences import search_bounded
from esr.engines.elasticsearch.search.candidate_count import count_request, read_count
from esr.engines.elasticsearch.search.candidate_query import scored_candidate_query
from esr.engines.elasticsearch.search.document_parts import DocumentPart, TermRange, part_clause
from esr.engines.elasticsearch.search.sentence_bounds import sentence_bounds
from esr.engines.elasticsearch.search.sentence_search import PAGE, Search
from esr.engines.index import Hit, SearchResult
from esr.plans.bounds import Numbers
from esr.plans.evidence import Array
from esr.plans.plan import Plan
from esr.plans.statistics import Statistics
from esr.plans.unprunable import Unprunable

FIRST_DOCUMENTS, FIRST_PER_HIT = 30, 3
"""Documents that are listed and scored first: a base, and so many more for each hit."""
EXPECTED_BELOW = 0.1
"""How far below the last of the first bounds the k-th score is expected, as a share of their range."""
NEXT_DOCUMENTS, NEXT_GROWTH = 2000, 4
"""Documents that are listed next, and how many times as many each time after that."""
MAX_K = 1000
"""With more hits, nearly all documents would be scored."""
FEW_CANDIDATES = 6000
"""Candidates that are simply all scored: that takes no longer than another request."""
MANY_DOCUMENTS, MANY_SHARE = 10_000, 0.25
"""A number and a share of the documents. If more than both reach the k-th score, all are scored at once."""


@dataclass
class _BestSentences:
    """The best k of the candidates that have been scored.

    `_partly` has the documents of which not all sentences have been scored, but only those with as many terms
    near them as `_scored_from` says, or more.
    """

    search: Search
    queries: BoundQueries
    k: int
    hits: list[Hit] = field(default_factory=list)
    scored: int = 0
    total: int | None = None
    """How many candidates there are. They are counted while the first are scored."""
    least_bound: float = -math.inf
    """The least bound of documents that can have a sentence among the best k."""
    _least_near_bound: float = -math.inf
    """The same by the bounds of `BoundedDocuments.least_terms`."""
    _reached: set[str] = field(default_factory=set)
    _partly: BoundedDocuments = NO_DOCUMENTS
    _scored_from: Numbers = field(default_factory=lambda: np.empty(0, np.intp))

    def score(self, documents: BoundedDocuments) -> None:
        """Score the candidates in those of the documents that can have one of the best."""
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
        """Score the sentences left out that can be among the best. The answer to the other request."""
        return self._score(self._partly, self._scored_from, self._least_near_bound, beside)

    def _score(
        self,
        documents: BoundedDocuments,
        scored_from: Numbers,
        least_bound: float,
        beside: dict[str, Any] | None,
    ) -> Any:
        """Score the sentences that reach the bound, but for those scored before.

        `scored_from`: from how many terms near them on sentences have been scored. `beside`: another request
        that is sent with theirs, whose answer is returned.
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
        clause = part_clause(terms, "sentence" if near is None else near.field, parts)
        hits, scored, answer = self.search.within(clause, self.k, beside)
        self.scored += scored
        self.hits = sorted([*self.hits, *hits], key=lambda hit: (-hit.score, hit.ordinal))[: self.k]
        # As long as there are fewer than k hits, no bound is too low.
        if len(self.hits) == self.k:
            score = self.hits[-1].score
            self.least_bound = self.queries.all.least_bound(score)
            if near is not None:
                self._least_near_bound = near.far.least_bound(score)
        return answer


def _expected_score(bounds: Array) -> float:
    """What the k-th score may be, if these are the highest bounds of documents, in falling order."""
    first, last = bounds[0], bounds[-1]
    return float(last - EXPECTED_BELOW * (first - last))


def search_pruned(search: Search, k: int, statistics: Statistics) -> SearchResult | Unprunable:
    """The result, or why everything has to be scored. `statistics` are those of the plan's matching terms."""
    if not search.plan.terms and not search.plan.statics:
        return Unprunable("the query ranks by nothing")
    if k > MAX_K:
        return Unprunable(f"more than {MAX_K:,} hits are requested")
    if _estimate_candidates(search, statistics) <= FEW_CANDIDATES:
        return Unprunable("there are few candidates")
    return _search_sentences(search, k) or _search_documents(search, k, statistics.collection.documents)


def _search_sentences(search: Search, k: int) -> SearchResult | None:
    """The result by the bounds of sentences, if they store some for the plan and these rule enough out."""
    if search.widening is None:
        return None
    bounds = sentence_bounds(search.plan, search.filters, search.widening)
    return None if bounds is None else search_bounded(search, k, bounds)


def _search_documents(search: Search, k: int, documents: int) -> SearchResult | Unprunable:
    """The result by the bounds of documents, of which there are so many."""
    queries = _bound_queries(search)
    if isinstance(queries, Unprunable):
        return queries
    page = list_documents(search, queries, min(FIRST_DOCUMENTS + FIRST_PER_HIT * k, PAGE))
    best = _BestSentences(search, queries, k)
    best.score(page.documents)
    many = max(MANY_DOCUMENTS, MANY_SHARE * documents)
    size = NEXT_DOCUMENTS
    while page.after is not None and page.documents.bounds[-1] >= best.least_bound:
        if math.isinf(best.least_bound):
            best.finish()  # while there are fewer than k hits, all documents would be listed
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
    query = bound_query(search.plan, search.collection, search.filters)
    if isinstance(query, Unprunable):
        return query
    near = None if search.plan.candidates == "matching" else near_queries(search.plan, search.collection)
    return BoundQueries(query, near)


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
