"""The best k sentences, without scoring those of documents that a bound keeps out.

1. The documents, best bound first (`bounding.py`), are asked for at the index of documents.
2. The candidates of the first of them are scored, by the scripts that score any.
3. Documents that are left and whose bound reaches the k-th score so far have theirs scored too.

Equal scores reach the bound, so the answer is the one that scoring everything gives, ties included.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from esr.engines.elasticsearch.bounding import Bounded, bounded
from esr.engines.elasticsearch.request import whole_documents, with_scores
from esr.engines.elasticsearch.searching import PAGE, Search
from esr.engines.index import Candidates, Hit
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


def pruned(search: Search, k: int) -> Candidates | str:
    """The answer, or why everything has to be scored."""
    if k > GREATEST_K:
        return f"more than {GREATEST_K:,} hits are asked for"
    query = bounded(search.plan, search.collection, search.filters)
    if isinstance(query, str):
        return query
    first = FIRST + A_HIT * k
    size = min(LISTED + A_SCORED * first, PAGE)
    listed, total = _first_list(search, query, size)
    whole = len(listed) < size  # whether these are all documents
    if not listed:
        return Candidates([], total, search.incomplete, 0)
    hits, scored = search.of_documents([document.id for document in listed[:first]], k)
    reach = _reach(hits, k, query)
    left = listed[first:]
    if not whole and listed[-1].bound >= reach:
        left = _list(search, query, PAGE, reach)[0]
        if len(left) == PAGE:
            return f"{PAGE:,} documents or more may have one of the best sentences"
        done = {document.id for document in listed[:first]}
        left = [document for document in left if document.id not in done]
    left = [document for document in left if document.bound >= reach]
    if left:
        more, also = search.of_documents([document.id for document in left], k)
        hits = sorted([*hits, *more], key=lambda hit: (-hit.score, hit.order))[:k]
        scored += also
    return Candidates(hits, total, search.incomplete, scored)


def few(plan: Plan, known: Statistics) -> str | None:
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


def _reach(hits: list[Hit], k: int, query: Bounded) -> float:
    """The bound of a document that may have one of the best k: none is too low before there are k."""
    if len(hits) < k:
        return float("-inf")
    least = hits[-1].score
    return least - query.slack * (1 + abs(least))


def _first_list(search: Search, query: Bounded, size: int) -> tuple[list[_Document], int]:
    """The best documents, and how many candidates there are in all."""
    plan, filters = search.plan, search.filters
    if whole_documents(plan, filters):
        listed, answer = _list(search, query, size, aggs={"total": {"sum": {"field": "size"}}})
        return listed, round(answer["aggregations"]["total"]["value"])
    counted = search.ask(query=with_scores(plan, filters), size=0, track_total_hits=True)
    return _list(search, query, size)[0], counted["hits"]["total"]["value"]


def _list(
    search: Search, query: Bounded, size: int, reach: float = float("-inf"), **more: Any
) -> tuple[list[_Document], Any]:
    """The best documents that reach so far, best first, and the whole answer."""
    least = reach - query.shift
    if least > 0:
        more["min_score"] = least
    # Columns alone, as the parses of sentences are read: stored fields lie in blocks.
    answer = search.ask(
        index=search.cluster.documents_alias,
        query=query.query,
        size=size,
        stored_fields="_none_",
        docvalue_fields=[{"field": "document_id"}],
        track_total_hits=False,
        **more,
    )
    hits = answer["hits"]["hits"]
    return [_Document(h["fields"]["document_id"][0], h["_score"] + query.shift) for h in hits], answer
