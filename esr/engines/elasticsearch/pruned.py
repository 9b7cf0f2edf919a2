"""The best k sentences, without scoring those of documents that a bound keeps out.

1. The documents, best bound first (`bounding.py`), are asked for at the index of documents. For few hits,
   those with a frequent term alone are left out, whose bound is the same for all of them.
2. The candidates of the first of them are scored, by the scripts that score any.
3. Those of documents that are left or were left out, and whose bound reaches the k-th score so far, too.

Equal scores reach the bound, so the answer is the one that scoring everything gives, ties included.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any, NamedTuple

from esr.engines.elasticsearch.bounding import Bounded, bounded, leaving_out, reached
from esr.engines.elasticsearch.request import filter_clauses, whole_documents, with_scores
from esr.engines.elasticsearch.searching import PAGE, Search
from esr.engines.index import Candidates
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


FEW_HITS = 20
"""For so many hits, documents with one of the query's terms alone, a frequent one, are left out at first."""
RARE = 1000
"""Terms are rare as long as they, the rarest first, have so many documents together."""


class _Document(NamedTuple):
    id: str
    bound: float


class _Listed(NamedTuple):
    """The best documents, best first; how many candidates there are; the most that is a bound of others, None
    if there are no others."""

    documents: list[_Document]
    total: int
    others: float | None


def pruned(search: Search, k: int, known: Statistics) -> Candidates | str:
    """The answer, or why everything has to be scored. `known`: of the terms that make candidates."""
    if k > GREATEST_K:
        return f"more than {GREATEST_K:,} hits are asked for"
    why = _few(search.plan, known)
    query = bounded(search.plan, search.collection, search.filters)
    if why is not None or isinstance(query, str):
        return why or str(query)
    first = FIRST + A_HIT * k
    documents, total, others = _listed(search, query, k, LISTED + A_SCORED * first, known)
    now, later = documents[:first], documents[first:]
    hits, scored = search.of_documents([document.id for document in now], k) if now else ([], 0)
    # Before there are k hits, no bound is too low.
    reach = query.reach(hits[-1].score) if len(hits) == k else -math.inf
    if others is not None and others >= reach:
        later = _asked(search, _request(search, query, PAGE, reach), query)
        if len(later) == PAGE:
            return f"{PAGE:,} documents or more may have one of the best sentences"
        done = {document.id for document in now}
        later = [document for document in later if document.id not in done]
    later = [document for document in later if document.bound >= reach]
    if later:
        more, also = search.of_documents([document.id for document in later], k)
        hits = sorted([*hits, *more], key=lambda hit: (-hit.score, hit.order))[:k]
        scored += also
    return Candidates(hits, total, search.incomplete, scored)


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


def _frequent(known: Statistics) -> set[str]:
    """All but the rarest terms."""
    rising = sorted(known.terms, key=lambda term: known.terms[term].df)
    together = accumulate(known.terms[term].df for term in rising)
    return {term for term, df in list(zip(rising, together, strict=True))[1:] if df > RARE}


def _listed(search: Search, query: Bounded, k: int, size: int, known: Statistics) -> _Listed:
    plan, filters, documents = search.plan, search.filters, search.cluster.documents_alias
    frequent = _frequent(known) if k <= FEW_HITS else ()
    leaving = leaving_out(plan, search.collection, frequent) if frequent else None
    if leaving is not None:
        sparing = bounded(plan, search.collection, filters, leaving)
        assert isinstance(sparing, Bounded)
        query = sparing
    asked, counted = _request(search, query, size), None
    summed = {"total": {"sum": {"field": "size"}}}
    if not whole_documents(plan, filters):
        inside = with_scores(plan, filters)
        counted = {"index": search.cluster.alias, "query": inside, "size": 0, "track_total_hits": True}
    elif leaving is not None:
        inside = {"bool": {"filter": [reached(plan), *filter_clauses(filters, of="documents")]}}
        counted = {"index": documents, "query": inside, "size": 0, "aggs": summed}
    else:
        asked["aggs"] = summed
    answer, *count = search.ask_all([asked, counted] if counted else [asked])
    aggregated = (count or [answer])[0]
    if "aggregations" in aggregated:
        total = round(aggregated["aggregations"]["total"]["value"])
    else:
        total = aggregated["hits"]["total"]["value"]
    found = _found(answer, query)
    others = [] if leaving is None else [leaving.bound]
    if len(found) == size:
        others.append(found[-1].bound)
    return _Listed(found, total, max(others, default=None))


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


def _asked(search: Search, request: dict[str, Any], query: Bounded) -> list[_Document]:
    return _found(search.ask(**request), query)


def _found(answer: Any, query: Bounded) -> list[_Document]:
    hits = answer["hits"]["hits"]
    return [_Document(hit["fields"]["document_id"][0], hit["_score"] + query.shift) for hit in hits]
