"""The best k sentences, without scoring those of documents that their bound rules out.

1. The index of documents lists the documents with the highest bounds (`bound_query.py`).
2. The candidates in them are scored, by the scripts that score any candidate.
3. As long as the bound of the last listed document reaches the k-th score so far, the next documents are
   listed that reach it, and scored.

Where a document's sentences without any term cannot reach the k-th score, only the others are scored.

Equal scores reach the bound, so the result is that of scoring everything, ties included. (Elasticsearch
sums up in an order of its own: what a term adds may change the last of 32 bits or not, if the others add
2**29 times as much.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from esr.engines.elasticsearch.search.bound_query import bound_query, termless_bound_query
from esr.engines.elasticsearch.search.bounded_documents import (
    BoundedDocument,
    BoundQueries,
    list_documents,
    list_more_documents,
)
from esr.engines.elasticsearch.search.candidate_query import (
    has_document_level_candidates,
    scored_candidate_query,
)
from esr.engines.elasticsearch.search.document_parts import DocumentParts, part_clause
from esr.engines.elasticsearch.search.sentence_search import PAGE, Search
from esr.engines.index import Hit, SearchResult
from esr.plans.plan import Plan
from esr.plans.statistics import Statistics
from esr.plans.unprunable import Unprunable

FIRST_DOCUMENTS, FIRST_PER_HIT = 30, 3
"""Documents that are listed and scored first: a base, and so many more for each hit."""
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

    In most documents, those are only the sentences that contain a term. `_without_termless` are the documents
    whose other sentences have not been scored.
    """

    search: Search
    queries: BoundQueries
    k: int
    hits: list[Hit] = field(default_factory=list)
    scored: int = 0
    least_bound: float = -math.inf
    """The least bound of documents that can have a sentence among the best k."""
    _least_termless_bound: float = -math.inf
    _reached: set[str] = field(default_factory=set)
    _without_termless: list[BoundedDocument] = field(default_factory=list)

    def score(self, documents: Sequence[BoundedDocument]) -> None:
        """Score the candidates in those of the documents that can have one of the best."""
        reaching = [
            document
            for document in documents
            if document.bound >= self.least_bound and document.id not in self._reached
        ]
        self._reached.update(_ids(reaching))
        least = self._least_termless_bound
        if reaching and math.isinf(least):
            least = reaching[-1].bound  # stands for the k-th score that is to be expected
        whole = [document for document in reaching if document.termless_bound >= least]
        others = [document for document in reaching if document.termless_bound < least]
        self._score(DocumentParts(_ids(whole), _ids(others), self._take_termless()))
        self._without_termless += others

    def finish(self) -> None:
        """Score the sentences without a term that have been left out, where they can be among the best."""
        self._score(DocumentParts((), (), self._take_termless()))

    def _take_termless(self) -> list[str]:
        documents, least = self._without_termless, self._least_termless_bound
        self._without_termless = [document for document in documents if document.termless_bound < least]
        return _ids([document for document in documents if document.termless_bound >= least])

    def _score(self, parts: DocumentParts) -> None:
        if not any(parts):
            return
        hits, scored = self.search.within(part_clause(self.search.plan, parts), self.k)
        self.scored += scored
        self.hits = sorted([*self.hits, *hits], key=lambda hit: (-hit.score, hit.ordinal))[: self.k]
        # As long as there are fewer than k hits, no bound is too low.
        if len(self.hits) == self.k:
            score, termless = self.hits[-1].score, self.queries.termless
            self.least_bound = self.queries.all.least_bound(score)
            if termless is not None:
                self._least_termless_bound = termless.least_bound(score)


def _ids(documents: Sequence[BoundedDocument]) -> list[str]:
    return [document.id for document in documents]


def search_pruned(search: Search, k: int, statistics: Statistics) -> SearchResult | Unprunable:
    """The result, or why everything has to be scored. `statistics` are those of the plan's matching terms."""
    if k > MAX_K:
        return Unprunable(f"more than {MAX_K:,} hits are requested")
    if _estimate_candidates(search, statistics) <= FEW_CANDIDATES:
        return Unprunable("there are few candidates")
    queries = _bound_queries(search)
    if isinstance(queries, Unprunable):
        return queries
    page, total = list_documents(search, queries, min(FIRST_DOCUMENTS + FIRST_PER_HIT * k, PAGE))
    best = _BestSentences(search, queries, k)
    best.score(page.documents)
    many = max(MANY_DOCUMENTS, MANY_SHARE * statistics.collection.documents)
    size = NEXT_DOCUMENTS
    while page.after is not None and page.documents[-1].bound >= best.least_bound:
        page, reaching = list_more_documents(search, queries, size, page, best.least_bound)
        if reaching > many:
            return Unprunable("most documents may contain one of the best sentences")
        best.score(page.documents)
        size = min(size * NEXT_GROWTH, PAGE)
    best.finish()
    return SearchResult(best.hits, total, search.incomplete, best.scored)


def _bound_queries(search: Search) -> BoundQueries | Unprunable:
    query = bound_query(search.plan, search.collection, search.filters, search.widening)
    if isinstance(query, Unprunable):
        return query
    termless = None
    # In a request of several searches, none answers with the scores of named queries.
    if has_document_level_candidates(search.plan, search.filters):
        termless = termless_bound_query(search.plan, search.collection)
    return BoundQueries(query, termless)


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
