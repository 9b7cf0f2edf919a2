"""A pruned search of many words keeps each request to as many clauses as any server takes.

The server is made up: it has the bounds of some documents, and evaluates the clauses that choose sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from esr.elastic.cluster import Cluster
from esr.elastic.search.pruned_search import search_pruned
from esr.elastic.search.sentence_search import Search
from esr.index.filters import NO_FILTERS
from esr.index.hits import SearchResult
from esr.plans.plan import (
    CollectionStatistics,
    Plan,
    PlanTerm,
    Saturation,
    Smoothing,
    Statistics,
    TermStatistics,
)

LEAST_LIMIT = 1024
"""The number of clauses that OpenSearch takes by default, and Elasticsearch with little memory."""
LEAVES = ("term", "terms", "match_all", "range", "exists", "prefix")


def count_clauses(node: Any) -> int:
    """The clauses that Lucene counts: those without others in them."""
    if isinstance(node, Mapping):
        return sum(1 if name in LEAVES else count_clauses(inner) for name, inner in node.items())
    return sum(map(count_clauses, node)) if isinstance(node, list) else 0


class Sentence(NamedTuple):
    document: str
    terms: frozenset[str]
    score: float


def matches(query: Any, sentence: Sentence) -> bool:
    """Whether a sentence satisfies a clause for a part of some documents."""
    ((kind, inner),) = query.items()
    if kind == "bool":
        should = [matches(part, sentence) for part in inner.get("should", ())]
        return (
            all(matches(part, sentence) for part in inner.get("filter", ()))
            and sum(should) >= inner.get("minimum_should_match", 0)
            and not any(matches(part, sentence) for part in inner.get("must_not", ()))
        )
    ((field, wanted),) = inner.items()
    values = {sentence.document} if field == "document_id" else sentence.terms
    return not values.isdisjoint([wanted] if kind == "term" else wanted)


class MadeUpServer(Search):
    """Answers the requests of one search. The n-th document has sentences with up to n terms near them.

    A sentence far from all terms has the score 0, and a term near it adds at most `lift`, but in fact less.
    """

    def __init__(self, cluster: Cluster, plan: Plan, collection: CollectionStatistics) -> None:
        super().__init__(cluster, plan, collection, NO_FILTERS, records=False)
        terms = [term.term for term in plan.terms]
        self.lifts = {f"d{n}": 100.0 / n for n in range(1, len(terms) + 1)}
        self.sentences = [
            Sentence(document, frozenset(terms[:number]), number * lift * 0.9 + number / 1000)
            for document, lift in self.lifts.items()
            for number in range(round(100.0 / lift) + 1)
        ]
        self.clauses: list[int] = []
        self.scored: list[int] = []
        """The numbers of the sentences in the answers."""

    def best(self, k: int) -> list[str]:
        numbers = sorted(range(len(self.sentences)), key=lambda n: (-self.sentences[n].score, n))
        return [f"s{n}" for n in numbers[:k]]

    def send(self, *, index: str | None = None, **body: Any) -> Any:
        self.clauses.append(count_clauses(body["query"]))
        return self._score(body) if index is None else {"hits": {"hits": self._list_documents()}}

    def send_together(self, *requests: dict[str, Any]) -> list[Any]:
        self.clauses += [count_clauses(request["query"]) for request in requests]
        return [self._score(requests[0]), {"aggregations": {"total": {"value": len(self.sentences)}}}]

    def _list_documents(self) -> list[Any]:
        return [
            {
                "_score": 100.0,
                "fields": {"document_id": [document]},
                "matched_queries": {"far": 0.0, "lift": lift},
            }
            for document, lift in self.lifts.items()
        ]

    def _score(self, body: Mapping[str, Any]) -> Any:
        part = body["query"]["script_score"]["query"]["bool"]["filter"][-1]
        numbers = [n for n, sentence in enumerate(self.sentences) if matches(part, sentence)]
        self.scored += numbers
        scores = sorted((-self.sentences[n].score, n) for n in numbers)
        hits = [
            {"_score": -score, "sort": [-score, n], "fields": {"sentence_id": [f"s{n}"]}}
            for score, n in scores[: body["size"]]
        ]
        return {"hits": {"hits": hits, "total": {"value": len(numbers)}}}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with closing(Cluster("http://localhost:9200/news")) as cluster:
        yield cluster


def search(cluster: Cluster, term_count: int, k: int) -> tuple[MadeUpServer, SearchResult]:
    terms = tuple(PlanTerm(f"w{n}", 1.0) for n in range(term_count))
    field = Smoothing(0.3, 0.5, 20.0)
    plan = Plan(terms, Saturation(1.2, field, field, field), "context", "document")
    collection = CollectionStatistics(sentences=90_000, documents=9_000, longest_sentence=40)
    server = MadeUpServer(cluster, plan, collection)
    known = {term.term: TermStatistics(9_000, 5_000, 9_500) for term in terms}
    result = search_pruned(server, k, Statistics(collection, known))
    assert isinstance(result, SearchResult)
    return server, result


@pytest.mark.parametrize("term_count", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_a_pruned_search_of_many_words_is_exact_in_requests_that_any_server_takes(
    cluster: Cluster, term_count: int
) -> None:
    k = 5
    server, result = search(cluster, term_count, k)
    assert [hit.sentence_id for hit in result.hits] == server.best(k)
    assert max(server.clauses) <= LEAST_LIMIT
    assert len(server.scored) == len({*server.scored}) == result.scored
    assert len(server.scored) < len(server.sentences)


def test_few_words_take_few_requests(cluster: Cluster) -> None:
    """The first lists documents, the second scores sentences, and candidates are counted beside it."""
    server, _ = search(cluster, 8, 5)
    assert len(server.clauses) == 3
