"""Statistics of a whole alias: exact, over all its shards and indices."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from esr.batches import batched
from esr.engines.elasticsearch.cluster.asking import msearch
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store.bounds import above
from esr.errors import EsrError
from esr.plans.plan import Static
from esr.plans.statistics import CollectionStatistics, Statistics, TermStatistics

MAX_AGE = 10.0
"""Seconds for which statistics are remembered, where indices may change or others take their place."""
_REMEMBERED = 200_000
_BATCH = 300
_PAGE = 10_000
_TERM = re.compile(r"\bcontext:([^\s()^]+)")
Domain = tuple[str, float | None]
"""A column, and what only values above it are looked at, if not all are."""


class AliasStatistics:
    """Asks Elasticsearch for statistics, and remembers them for a little while.

    `fixed`: the aliases are names of indices. Then what texts give is remembered for good, since a
    generation's texts never change; enrichment and refreshed priors do change columns.
    """

    def __init__(self, cluster: Cluster, fixed: bool = False) -> None:
        self._cluster = cluster
        self._fixed = fixed
        self._collection: CollectionStatistics | None = None
        self._terms: dict[str, TermStatistics] = {}
        self._bounds: dict[Domain, tuple[float, float] | None] = {}
        self._features: list[str] | None = None
        self._prefixed: dict[tuple[str, int], list[str]] = {}
        self._asked = 0.0

    def get(self, terms: Sequence[str]) -> Statistics:
        self._forget_old()
        known, collection = self._terms, self._collection
        with self._cluster.errors():
            if collection is None:
                collection = self._collection = self._ask_collection()
            for some in batched([t for t in terms if t not in known], _BATCH):
                known.update(self._ask_terms(some))
        return Statistics(collection, {term: known[term] for term in terms})

    def bounded(self, statics: Sequence[Static]) -> CollectionStatistics:
        """The collection's, with the lowest and highest values of the columns of these statics."""
        collection = self.get(()).collection
        known = self._bounds
        domains = {static: (static.column, above(static)) for static in statics}
        unknown = {domain for domain in domains.values() if domain not in known}
        if unknown:
            with self._cluster.errors():
                known.update(self._ask_bounds(sorted(unknown, key=str)))
        found = {static: known[domain] for static, domain in domains.items()}
        return replace(collection, bounds={s: ends for s, ends in found.items() if ends is not None})

    def histogram(self, column: str) -> dict[float, int]:
        """How many sentences have each value of a column, the lowest first."""
        sources = [{"value": {"terms": {"field": column}}}]
        composite: dict[str, Any] = {"size": _PAGE, "sources": sources}
        found: dict[float, int] = {}
        while True:
            body = {"size": 0, "aggs": {"values": {"composite": composite}}}
            with self._cluster.errors():
                (answer,) = self._msearch([(self._cluster.alias, body)])
            page = answer["aggregations"]["values"]
            for bucket in page["buckets"]:
                value = float(bucket["key"]["value"])  # 0.0 and -0.0 are two buckets
                found[value] = found.get(value, 0) + bucket["doc_count"]
            if len(page["buckets"]) < _PAGE:
                return found
            composite["after"] = page["after_key"]

    def ends(self) -> tuple[int, int]:
        """The first places in the collection, of sentences and of documents, that nothing has stood at."""
        body = {"size": 0, "aggs": {"last": {"max": {"field": "order"}}}}
        with self._cluster.errors():
            answers = self._msearch([(self._cluster.alias, body), (self._cluster.documents_alias, body)])
        last = [answer["aggregations"]["last"]["value"] for answer in answers]
        sentences, documents = (0 if value is None else int(value) + 1 for value in last)
        return sentences, documents

    def features(self) -> list[str]:
        """The names of the features that some index of the alias has a field for."""
        self._forget_old()
        if self._features is None:
            with self._cluster.errors():
                answer = self._cluster.client.indices.get_mapping(index=self._cluster.alias)
            fields = [found["mappings"]["properties"].get("features", {}) for found in answer.values()]
            self._features = sorted({name for field in fields for name in field.get("properties", {})})
        return self._features

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """The first terms that begin so, by the codes of their letters."""
        self._forget_old()
        key = prefix, limit
        if key not in self._prefixed:
            with self._cluster.errors():
                self._prefixed[key] = self._ask_prefix(prefix, limit)
        return self._prefixed[key]

    def _ask_prefix(self, prefix: str, limit: int) -> list[str]:
        """What each shard makes of a query for the prefix: its first terms, all of one boost.

        `_terms_enum` finds nothing in text fields.
        """
        rewritten = {"value": prefix, "rewrite": f"top_terms_{limit}"}
        answer = self._cluster.client.indices.validate_query(
            index=self._cluster.documents_alias,
            query={"prefix": {"context": rewritten}},
            rewrite=True,
            all_shards=True,
        )
        told = answer["explanations"]
        if not answer["valid"] or answer["_shards"]["failed"]:
            raise EsrError(f"{self._cluster.where} cannot tell its terms: {told}")
        # A shard without such terms leaves the query as it is: the prefix and a star, which no term has.
        found = {term for each in told for term in _TERM.findall(each["explanation"])} - {f"{prefix}*"}
        return sorted(term for term in found if term.startswith(prefix))[:limit]

    def _forget_old(self) -> None:
        old = time.monotonic() - self._asked > MAX_AGE
        if old:
            self._bounds, self._features = {}, None
            self._asked = time.monotonic()
        if len(self._terms) > _REMEMBERED or (old and not self._fixed):
            self._terms, self._collection, self._prefixed = {}, None, {}

    def _ask_bounds(self, domains: Sequence[Domain]) -> dict[Domain, tuple[float, float] | None]:
        aggs = {}
        for place, (column, least) in enumerate(domains):
            inside = {"match_all": {}} if least is None else {"range": {column: {"gt": least}}}
            ends = {end: {end: {"field": column}} for end in ("min", "max")}
            aggs[str(place)] = {"filter": inside, "aggs": ends}
        (answer,) = self._msearch([(self._cluster.alias, {"size": 0, "aggs": aggs})])
        found: dict[Domain, tuple[float, float] | None] = {}
        for place, domain in enumerate(domains):
            ends = answer["aggregations"][str(place)]
            low, high = ends["min"]["value"], ends["max"]["value"]
            found[domain] = None if low is None else (low, high)
        return found

    def _ask_collection(self) -> CollectionStatistics:
        sums = {
            name: {"sum": {"field": name}} for name in ("length", "surrounding_length", "document_length")
        }
        longest = {"longest": {"max": {"field": "length"}}}
        sentences, documents = self._msearch(
            [
                (self._cluster.alias, {"size": 0, "track_total_hits": True, "aggs": sums | longest}),
                (
                    self._cluster.documents_alias,
                    {
                        "size": 0,
                        "track_total_hits": True,
                        "aggs": {name: {"sum": {"field": name}} for name in ("length", "terms")},
                    },
                ),
            ]
        )

        def value(answer: Any, name: str) -> float:
            return answer["aggregations"][name]["value"] or 0.0

        return CollectionStatistics(
            sentences=sentences["hits"]["total"]["value"],
            documents=documents["hits"]["total"]["value"],
            occurrences=int(value(sentences, "length")),
            document_length=int(value(documents, "length")),
            surrounding_length=int(value(sentences, "surrounding_length")),
            weighted_document_length=int(value(sentences, "document_length")),
            document_terms=int(value(documents, "terms")),
            longest_sentence=int(value(sentences, "longest")),
        )

    def _ask_terms(self, terms: Iterable[str]) -> dict[str, TermStatistics]:
        """sf and df are counts of hits. cf is the engine's own statistic wherever that is exact.

        Enrichment updates sentences. Elasticsearch goes on counting what an update replaced until its
        segments are merged. So one hit tells the engine's cf and, from the same state of the index, its
        sf: where that is not the number of hits, the occurrences are summed up over the hits.
        """
        terms = list(terms)
        searches: list[tuple[str, dict[str, Any]]] = []
        for term in terms:
            count = {"size": 0, "track_total_hits": True}
            inside = {"term": {"text": term}}
            told = [
                {"script_score": {"query": inside, "script": {"id": script}}}
                for script in ("esr-occurrences-v1", "esr-holders-v1")
            ]
            searches += [
                (self._cluster.alias, {**count, "query": inside}),
                (self._cluster.documents_alias, {**count, "query": {"term": {"context": term}}}),
                (
                    self._cluster.alias,
                    {
                        "size": 1,
                        "terminate_after": 1,
                        "_source": False,
                        "explain": True,
                        "query": {"bool": {"should": told}},
                    },
                ),
            ]
        answers = self._msearch(searches)
        found = {}
        doubtful = []
        for term, sentences, documents, best in zip(
            terms, answers[::3], answers[1::3], answers[2::3], strict=True
        ):
            sf, df = (answer["hits"]["total"]["value"] for answer in (sentences, documents))
            hits = best["hits"]["hits"]
            cf, holders = (
                (round(part["value"]) for part in hits[0]["_explanation"]["details"]) if hits else (0, 0)
            )
            found[term] = TermStatistics(sf, df, cf)
            if sf != holders:
                doubtful.append(term)
        return found | self._sum_occurrences({term: found[term] for term in doubtful})

    def _sum_occurrences(self, doubtful: Mapping[str, TermStatistics]) -> dict[str, TermStatistics]:
        """The same statistics with a cf that is counted hit by hit."""
        if not doubtful:
            return {}
        counted = {"size": 0, "aggs": {"occurrences": {"sum": {"script": "_score"}}}}
        searches = [
            (
                self._cluster.alias,
                counted
                | {
                    "query": {
                        "script_score": {"query": {"term": {"text": term}}, "script": {"id": "esr-count-v1"}}
                    }
                },
            )
            for term in doubtful
        ]
        return {
            term: known._replace(cf=round(answer["aggregations"]["occurrences"]["value"]))
            for (term, known), answer in zip(doubtful.items(), self._msearch(searches), strict=True)
        }

    def _msearch(self, searches: list[tuple[str, dict[str, Any]]]) -> list[Any]:
        lines: list[dict[str, Any]] = []
        for alias, body in searches:
            lines += [{"index": alias, "search_type": "dfs_query_then_fetch"}, body]
        return msearch(self._cluster, lines)
