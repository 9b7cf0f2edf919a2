"""The Elasticsearch engine: an index behind an alias."""

from __future__ import annotations

import math
from base64 import b64decode
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from functools import lru_cache
from typing import Any

import numpy as np
from elasticsearch import AuthorizationException

from esr import analysis
from esr.batches import batched
from esr.documents import Document
from esr.engines.elasticsearch.cluster.asking import pages, search
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.enrichment import ElasticsearchEnrichment, enrichment, summary
from esr.engines.elasticsearch.search.bounding import SCRIPTS as BOUNDING
from esr.engines.elasticsearch.search.facets import facets
from esr.engines.elasticsearch.search.pruned import pruned
from esr.engines.elasticsearch.search.raw import SHOWN
from esr.engines.elasticsearch.search.raw import request as raw_request
from esr.engines.elasticsearch.search.request import MIXTURE, SATURATION, SCORE, candidates
from esr.engines.elasticsearch.search.searching import Search
from esr.engines.elasticsearch.store import meta
from esr.engines.elasticsearch.store.impacts import fit
from esr.engines.elasticsearch.store.places import documents, documents_at
from esr.engines.elasticsearch.store.statistics import AliasStatistics
from esr.engines.elasticsearch.store.stored import document_of, record_of
from esr.engines.index import (
    COLUMNS,
    CandidateEvidence,
    Facet,
    Filters,
    Histogram,
    SearchResult,
    SentenceRecord,
)
from esr.errors import IndexMissing, UsageError
from esr.plans.evidence import Evidence, joined
from esr.plans.plan import FEATURES, Plan
from esr.plans.statistics import CollectionStatistics, Statistics

_POOLED = 1000
_ANALYSED = 20_000
"""Sentences whose terms are remembered, some kilobytes each."""


class ElasticsearchIndex:
    """An index behind an alias. Sees each load as soon as the alias moves."""

    def __init__(self, where: str) -> None:
        self._place = where
        self._latest: tuple[tuple[str, ...], ElasticsearchIndex] | None = None
        self._is_pinned = False
        self._use(Cluster(where))

    def _use(self, cluster: Cluster, fixed: bool = False) -> None:
        """`fixed`: the cluster's aliases are names of indices, which lead nowhere else."""
        self.cluster = cluster
        self._fixed = fixed
        self.where = cluster.where
        found = meta.served(cluster)
        if not found:
            raise IndexMissing(f"there is no index at {self.where}: make one with esr load")
        self.description = found[0].description
        self._impacts = found[0].impacts if len(found) == 1 else {}
        self.analyzer = analysis.get(self.description.analyzer)
        self._statistics = AliasStatistics(cluster, fixed)
        # Sentences are neighbours of others and candidates of many queries: each is analysed once.
        self._counted = lru_cache(_ANALYSED)(lambda text: Counter(self.analyzer.terms(text)))
        self._context = lru_cache(_ANALYSED // 10)(lambda terms: Counter(terms.split()))

    def close(self) -> None:
        self.cluster.close()

    def snapshot(self) -> ElasticsearchIndex:
        """What the alias leads to now: statistics and answers that belong together, if it moves meanwhile."""
        if self._is_pinned:
            return self
        self.cluster.turn()  # One node says what the alias leads to, and answers for that.
        aliases = [self.cluster.alias, self.cluster.documents_alias]
        with self.cluster.errors():
            try:
                found = self.cluster.client.indices.get_alias(name=aliases)
            except AuthorizationException:
                return self  # a login that may only search: it sees a switch within some seconds
        names = tuple(",".join(sorted(n for n in found if name in found[n]["aliases"])) for name in aliases)
        latest = self._latest  # another thread, whose node knows more or less, may put its own there
        if latest is None or latest[0] != names:
            latest = self._latest = names, self._pin(*names)
        return latest[1]

    def _pin(self, sentences: str, documents: str) -> ElasticsearchIndex:
        cluster = copy(self.cluster)
        if max(len(sentences), len(documents)) <= meta.LONGEST_NAMES:  # else there is no naming them all
            cluster.alias, cluster.documents_alias = sentences, documents
        pinned = copy(self)
        pinned._is_pinned = True
        pinned._use(cluster, cluster.alias == sentences)
        return pinned

    def statistics(self, terms: Sequence[str]) -> Statistics:
        return self._statistics.get(terms)

    def bounded(self, plan: Plan) -> CollectionStatistics:
        """The collection's statistics, with the bounds of what the plan looks at."""
        return self._statistics.bounded(plan.statics)

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        return self._statistics.terms_with_prefix(prefix, limit)

    def features(self) -> Sequence[str]:
        return self._statistics.features()

    def histogram(self, column: str) -> Histogram:
        found = self._statistics.histogram(column)
        return Histogram(np.array(list(found), float), np.array(list(found.values()), np.int64))

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        def begun(kept: bool = False) -> Search:
            return Search(self.cluster, plan, self.bounded(plan), filters, records, kept)

        found: SearchResult | str = "the alias may move between two requests"
        if self._fixed:
            known = self.statistics(plan.matching)
            found = pruned(begun(fit(self._impacts, plan, known)), k, known)
        return begun().everything(k, found) if isinstance(found, str) else found

    def request(self, plan: Plan, k: int, filters: Filters, *, standalone: bool = False) -> dict[str, Any]:
        return raw_request(plan, self.bounded(plan), filters, k, standalone=standalone)

    def ready(self) -> None:
        if not meta.served(self.cluster):
            raise IndexMissing(f"there is no index at {self.where}: make one with esr load")
        # A stored script may be used by whoever may search, but be read by few: so all are compiled.
        # With no hit to be scored, their parameters are not looked at.
        scripts = [
            {"script_score": {"query": {"match_all": {}}, "script": {"id": script}}}
            for script in (MIXTURE, SATURATION, SCORE, *BOUNDING)
        ]
        search(
            self.cluster,
            index=self.cluster.alias,
            query={"bool": {"should": scripts}},
            size=0,
            terminate_after=1,
        )

    def warm(self) -> None:
        """Nothing: the node has what it needs."""

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        return [record_of(hit["_source"]) for hit in self._sentences(ids, SHOWN)]

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        return self._evidence(terms, [hit["_source"] for hit in self._sentences(ids, True)], columns)

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        # Columns alone: stored fields, even _id, lie in blocks with the text of whole documents.
        found: dict[str, bytes | None] = {}
        for some in batched(ids, _POOLED):
            answer = search(
                self.cluster,
                index=self.cluster.alias,
                query={"bool": {"filter": {"terms": {"sentence_id": some}}}},
                size=len(some),
                stored_fields="_none_",
                docvalue_fields=[{"field": "sentence_id"}, {"field": "parse"}],
            )
            for fields in (hit["fields"] for hit in answer["hits"]["hits"]):
                parse = fields.get("parse")
                found[fields["sentence_id"][0]] = b64decode(parse[0]) if parse else None
        self._all_known(ids, found)
        return [found[sentence_id] for sentence_id in ids]

    def facets(self, plan: Plan, asked: Mapping[str, Filters], size: int) -> dict[str, Facet]:
        return facets(self.cluster, plan, asked, size)

    def enrichment(self) -> AbstractContextManager[ElasticsearchEnrichment]:
        return enrichment(self._place)

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        names: list[str] = []
        rows: list[Evidence] = []
        terms = [term.term for term in plan.terms]
        columns = [static.column for static in plan.statics]
        body: dict[str, Any] = {"query": candidates(plan, filters), "sort": [{"order": "asc"}]}
        for answer in pages(self.cluster, _POOLED, index=self.cluster.alias, **body):
            found = answer["hits"]["hits"]
            names += [hit["_id"] for hit in found]
            rows.append(self._evidence(terms, [hit["_source"] for hit in found], columns))
        places = {name: place for place, name in enumerate(names)}
        return CandidateEvidence(joined(rows), names.__getitem__, places.get)

    def _evidence(
        self, terms: Sequence[str], found: Sequence[Mapping[str, Any]], columns: Iterable[str]
    ) -> Evidence:
        """Counts made from the stored texts, by the analysis that made the index."""
        counts = np.zeros((3, len(terms), len(found)))
        for column, source in enumerate(found):
            sentence = self._counted(source["text"])
            around = [self._counted(source[name]) for name in ("previous", "next") if source.get(name)]
            document = self._context(source["context"])
            for row, term in enumerate(terms):
                own = sentence[term]
                counts[:, row, column] = own, own + sum(text[term] for text in around), document[term]

        def stored(name: str) -> Any:
            return np.array([_number(source, name) for source in found], float)

        return Evidence(
            {"sentence": counts[0], "surrounding": counts[1], "document": counts[2]},
            {
                "sentence": stored("length"),
                "surrounding": stored("surrounding_length"),
                "document": stored("document_length"),
            },
            {name: stored(name) for name in {*COLUMNS, *columns}},
        )

    def document(self, document_id: str) -> Document:
        answer = search(
            self.cluster,
            index=self.cluster.documents_alias,
            query={"ids": {"values": [document_id]}},
            source={"excludes": ["context"]},
        )
        hits = answer["hits"]["hits"]
        if not hits:
            raise UsageError(f"there is no document {document_id!r} in {self.where}")
        return document_of(hits[0]["_source"])

    def documents(self) -> Iterator[Document]:
        return documents(self.cluster)

    def documents_at(self, places: Sequence[int]) -> list[Document]:
        return documents_at(self.cluster, places)

    def status(self) -> Mapping[str, Any]:
        collection = self._statistics.get(()).collection
        loads = meta.served(self.cluster)
        return {
            "engine": "elasticsearch",
            "where": self.where,
            "documents": collection.documents,
            "sentences": collection.sentences,
            "occurrences": collection.occurrences,
            "size_bytes": self._size(),
            "indices": sorted(name for load in loads for name in (load.index, load.documents_index)),
            "loads": len(loads),
            "enrichment": summary(self.cluster, loads),
            **self.description.as_dict(),
        }

    def _size(self) -> int | None:
        """Bytes on disk, without copies; None for a login that may only search."""
        indices = [f"{self.cluster.alias},{self.cluster.documents_alias}"]
        with self.cluster.errors():
            try:
                answer = self.cluster.client.indices.stats(index=indices, metric="store")
            except AuthorizationException:
                return None
        size: int = answer["_all"]["primaries"]["store"]["size_in_bytes"]
        return size

    def _sentences(self, ids: Sequence[str], source: Any) -> list[Any]:
        found: dict[str, Any] = {}
        for some in batched(ids, 1000):
            answer = search(
                self.cluster,
                index=self.cluster.alias,
                query={"ids": {"values": list(some)}},
                size=len(some),
                source=source,
            )
            found |= {hit["_id"]: hit for hit in answer["hits"]["hits"]}
        self._all_known(ids, found)
        return [found[sentence_id] for sentence_id in ids]

    def _all_known(self, ids: Sequence[str], found: Container[str]) -> None:
        for sentence_id in ids:
            if sentence_id not in found:
                raise UsageError(f"there is no sentence {sentence_id!r} in {self.where}")


def _number(source: Mapping[str, Any], column: str) -> float:
    """A column's value in a stored sentence, NaN where it is not known."""
    name = column.removeprefix(FEATURES)
    value = source[column] if name == column else source.get("features", {}).get(name)
    return math.nan if value is None else float(value)
