"""The interface `Index` for an index in Elasticsearch, behind an alias.

Searches run on snapshots, which name the indices behind the alias and stay consistent if it moves.
`on_latest` saves the request for looking up the alias: it presumes that the alias has not moved, which the
answer confirms (`Presumption`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np
from elasticsearch import AuthorizationException, BadRequestError

from esr.elastic import meta
from esr.elastic.cluster import AliasTargets, Cluster
from esr.elastic.documents import (
    WITHOUT_CONTEXT,
    WORDS_FIELD,
    decode_document,
    decode_quotes,
    decode_sentence,
    read_documents,
    read_documents_at,
    sentence_field,
)
from esr.elastic.impacts import Slack, find_slack
from esr.elastic.requests import read_entries, search
from esr.elastic.search import plan_query
from esr.elastic.search.counts import (
    count_days,
    count_facets,
    count_sentences,
    find_by_date,
    find_written_forms,
    match_sentences,
    read_texts,
    similar_words,
    sum_lengths,
    words_with_prefix,
)
from esr.elastic.search.evidence import SCRIPTS as SIMILARITY_SCRIPTS
from esr.elastic.search.evidence import EvidenceReader, SimilarityReader, add_rescoring, find_nearest
from esr.elastic.search.plan_query import (
    RECORD_FIELDS,
    condition_query,
    filter_clauses,
    names_clause,
    search_body,
)
from esr.elastic.search.pruned_search import search_pruned
from esr.elastic.search.sentence_search import (
    Presumption,
    Search,
    SnapshotOutdated,
    StoredParses,
    look_up_parses,
    look_up_sources,
)
from esr.elastic.statistics import STATISTICS_SCRIPTS, AliasStatistics, read_histogram
from esr.elastic.vectors import GRAPH, EncoderReader, decode_vector, source_with_vectors
from esr.elastic.vocabulary import NameReader, ValueReader
from esr.elastic.write.enrichment import (
    ElasticsearchEnrichment,
    count_unresolved,
    open_enrichment,
    summarize_enrichment,
)
from esr.errors import EngineUnreachable, EsrError, NotFound, UsageError
from esr.index.contract import Index, LengthGroups, Result, Similarities, SimilarityRescoring, check_sentences
from esr.index.filters import (
    DayCounts,
    FacetCounts,
    Filters,
    NameUnit,
    ValueTable,
    resolve_condition,
    resolve_filters,
    resolve_plan,
)
from esr.index.hits import CandidateEvidence, Histogram, Hit, SearchResult, SentenceRecord, SentenceTexts
from esr.index.names import Name, name_key
from esr.plans.evaluate import Evidence
from esr.plans.plan import CollectionStatistics, Condition, Plan, Statistics, Unprunable
from esr.text.analyzer import get_analyzer
from esr.text.document import QUOTES, VECTORS, Document, QuantizedVector, Quote

Remembered = TypeVar("Remembered")
_MOST_REMEMBERED = 5_000


class Opened:
    """Readers and cached data of a cluster's aliases, or of the indices that it `is_pinned` to."""

    def __init__(self, cluster: Cluster, is_pinned: bool = False) -> None:
        self.cluster = cluster
        self.is_pinned = is_pinned
        loads = meta.searchable_loads(cluster)
        self.description = loads[0].description
        self.impacts = loads[0].impacts if len(loads) == 1 else {}
        self.analyzer = get_analyzer(self.description.analyzer)
        self.statistics = AliasStatistics(cluster, is_pinned, sentence_field(self.description))
        self.words = AliasStatistics(cluster, is_pinned, WORDS_FIELD["sentence"])
        """Statistics of written words."""
        self.evidence_reader = EvidenceReader(self.analyzer)
        self.names = NameReader(cluster)
        self.encoders = EncoderReader(cluster)
        self.parses = StoredParses(cluster)
        self.values = ValueReader(cluster, is_pinned)
        self.shards: dict[str, int] = {}
        """The number of shards of each index that was searched."""
        self._remembered: dict[Any, Any] = {}

    def remember(self, read: Callable[..., Remembered], *arguments: Any) -> Remembered:
        """The result of `read`, which depends on texts alone: it is cached if the indices are pinned."""
        if not self.is_pinned:
            return read(self.cluster, *arguments)
        remembered, key = self._remembered, (read, *arguments)  # another thread may replace them
        if key not in remembered:
            if len(remembered) >= _MOST_REMEMBERED:
                self._remembered = remembered = {}
            remembered[key] = read(self.cluster, *arguments)
        answer: Remembered = remembered[key]
        return answer


class ElasticsearchSnapshot:
    """An `Index` that answers from what was opened. If that is pinned, its indices never change.

    A search checks the `presumption`, if any, that the aliases still point to these indices.
    """

    def __init__(self, where_with_login: str, opened: Opened, presumption: Presumption | None = None) -> None:
        self._where_with_login = where_with_login
        self.opened = opened
        self._presumption = presumption
        self.cluster = opened.cluster
        self.where = opened.cluster.where
        self.description = opened.description
        self.analyzer = opened.analyzer

    def close(self) -> None:
        self.cluster.close()

    def snapshot(self) -> ElasticsearchSnapshot:
        return self

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return work(self)

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        return self.opened.statistics.lookup(terms, language)

    def languages(self) -> Mapping[str | None, int]:
        return self.opened.statistics.languages()

    def bounded_collection(self, plan: Plan) -> CollectionStatistics:
        """The collection's statistics, with the ranges of values in the columns of the plan."""
        return self.opened.statistics.bounded_collection(plan.static_scores)

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        return self.opened.statistics.terms_with_prefix(prefix, limit)

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        return words_with_prefix(self.cluster, prefix, limit)

    def similar_words(self, word: str, max_edits: int, least: int) -> Mapping[str, int]:
        return self.opened.remember(similar_words, word, max_edits, least)

    def written_forms(self, words: Sequence[str]) -> list[str]:
        return self.opened.remember(find_written_forms, tuple(words)) if words else []

    def features(self) -> Sequence[str]:
        return self.opened.statistics.features()

    def histogram(self, column: str) -> Histogram:
        histogram = read_histogram(self.cluster, column)
        return Histogram(np.array(list(histogram), float), np.array(list(histogram.values()), np.int64))

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        plan, filters = resolve_plan(self, plan), resolve_filters(self, filters)
        collection = self.bounded_collection(plan)

        def start(slack: Slack | None = None) -> Search:
            presumption, shards = self._presumption, self.opened.shards
            return Search(self.cluster, plan, collection, filters, records, slack, presumption, shards)

        result: SearchResult | Unprunable = Unprunable("the alias may move between two requests")
        if self.opened.is_pinned:
            statistics = self.statistics(plan.candidate_terms)
            slack = find_slack(self.opened.impacts, plan, statistics)
            result = search_pruned(start(slack), k, statistics)
        if isinstance(result, Unprunable):
            return start().exhaustive(k, result.reason)
        return result

    def request(
        self,
        plan: Plan,
        k: int,
        filters: Filters,
        *,
        standalone: bool = False,
        rescoring: SimilarityRescoring | None = None,
    ) -> dict[str, Any]:
        plan, filters = resolve_plan(self, plan), resolve_filters(self, filters)
        body = search_body(plan, self.bounded_collection(plan), filters, k, standalone=standalone)
        if standalone:
            if self.description.is_by_language:
                raise UsageError("--standalone is not for an index by language: leave it out")
            self.opened.statistics.check_engine_counts()
        if rescoring is not None:
            body = add_rescoring(body, rescoring, self.opened.encoders.fingerprints(rescoring.encoder))
        translated: dict[str, Any] = self.cluster.dialect.search(body)
        return translated

    def store_search_template(self, source: str) -> str:
        name = f"esr-{self.cluster.aliases.sentences}"
        with self.cluster.translate_errors():
            try:
                self.cluster.client.put_script(id=name, script={"lang": "mustache", "source": source})
            except BadRequestError as error:
                if "unsupported lang" not in str(error):
                    raise
                raise UsageError(
                    f"{self.cluster.where} stores no search templates, as its server lacks the module "
                    "lang-mustache: use a client of clients/, or --standalone"
                ) from error
        return name

    def check_ready(self) -> None:
        meta.searchable_loads(self.cluster)
        # Any user who may search may use stored scripts, but few may read them. So a search compiles them
        # all. It scores no hit and needs no parameters.
        scripts = [
            {"script_score": {"query": {"match_all": {}}, "script": {"id": script}}}
            for script in (
                *plan_query.SCRIPTS,
                *SIMILARITY_SCRIPTS,
                *STATISTICS_SCRIPTS,
            )
            if script not in self.cluster.dialect.missing_scripts
        ]
        search(
            self.cluster,
            index=self.cluster.alias,
            query={"bool": {"should": scripts}},
            size=0,
            terminate_after=1,
        )

    def warm_up(self) -> None:
        """Do nothing: Elasticsearch needs no preparation."""

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        return [decode_sentence(source) for source in look_up_sources(self.cluster, ids, RECORD_FIELDS)]

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        return self.opened.evidence_reader.evidence(terms, look_up_sources(self.cluster, ids, True), columns)

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        return look_up_parses(self.cluster, ids)

    def has_parses(self) -> bool:
        return self.opened.parses.exist()

    def quotes(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[tuple[Quote, ...]]:
        return list(map(decode_quotes, look_up_sources(self.cluster, ids, [QUOTES])))

    def encoder(self) -> str | None:
        return self.opened.encoders.main_encoder()

    def similarities(
        self,
        encoder: str,
        query: QuantizedVector,
        ids: Sequence[str],
        ordinals: Sequence[int] | None = None,
        contexts: Collection[str] = (),
    ) -> Similarities:
        if ordinals is None:
            ordinals = [source["ordinal"] for source in look_up_sources(self.cluster, ids, ["ordinal"])]
        marks = self.opened.encoders.fingerprints(encoder)
        return SimilarityReader(self.cluster, marks, query).read(ordinals, contexts)

    def vectors(
        self, encoder: str, ids: Sequence[str], ordinals: Sequence[int] | None = None
    ) -> list[QuantizedVector | None]:
        source = source_with_vectors(self.cluster, ["enriched", VECTORS])
        marks = set(self.opened.encoders.fingerprints(encoder))
        return [
            decode_vector(fields[VECTORS]) if VECTORS in fields and marks & {*fields["enriched"]} else None
            for fields in look_up_sources(self.cluster, ids, source)
        ]

    def nearest(
        self,
        encoder: str,
        query: QuantizedVector,
        k: int,
        condition: Condition | None,
        filters: Filters,
    ) -> list[Hit]:
        resolved = None if condition is None else resolve_condition(self, condition)
        clauses = filter_clauses(resolve_filters(self, filters))
        clauses += [] if resolved is None else [condition_query(resolved)]
        marks = self.opened.encoders.fingerprints(encoder)
        return find_nearest(self.cluster, marks, query, k, clauses, self.opened.encoders.has_graph())

    def nearest_is_exact(self) -> bool:
        return not self.opened.encoders.has_graph()

    def facets(
        self, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
    ) -> dict[str, FacetCounts]:
        resolved = {field: resolve_filters(self, filters) for field, filters in filters_by_field.items()}
        return count_facets(
            self.cluster, self.opened.names, self.opened.values, resolve_plan(self, plan), resolved, size
        )

    def values(self, field: str) -> ValueTable:
        return self.opened.values.values(field)

    def find_names(self, keys: Sequence[str]) -> Mapping[str, Name]:
        return self.opened.names.find(keys)

    def name_forms(self, key: str) -> dict[str, int]:
        return self.opened.names.count_forms(key)

    def full_names(self, key: str) -> Sequence[str]:
        return self.opened.names.full_names(key)

    def name_keys(self, prefix: str, limit: int) -> list[str]:
        return self.opened.names.keys(prefix, limit)

    def count(self, conditions: Sequence[Condition], filters: Filters) -> list[int]:
        resolved = [resolve_condition(self, condition) for condition in conditions]
        return count_sentences(self.cluster, resolved, resolve_filters(self, filters))

    def count_names(
        self,
        filters: Filters,
        size: int,
        *,
        condition: Condition | None = None,
        unit: NameUnit = "sentences",
        prefix: str = "",
        keys: Collection[str] | None = None,
    ) -> dict[str, int]:
        filters, key = resolve_filters(self, filters), name_key(prefix)
        if unit == "documents":
            clauses = filter_clauses(filters, "documents")
            clauses += [names_clause(filters.entities)] if filters.entities else []
            query = {"bool": {"filter": clauses}}
            return self.opened.names.count(self.cluster.documents_alias, query, size, key, keys)
        condition = condition and resolve_condition(self, condition)
        query = match_sentences(condition, filters)
        return self.opened.names.count(self.cluster.alias, query, size, key, keys)

    def count_days(self, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
        resolved = [each and resolve_condition(self, each) for each in conditions]
        return count_days(self.cluster, resolved, resolve_filters(self, filters))

    def by_date(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        *,
        oldest_first: bool = False,
        records: bool = True,
    ) -> SearchResult:
        condition, filters = resolve_condition(self, condition), resolve_filters(self, filters)
        return find_by_date(self.cluster, condition, k, filters, oldest_first, records)

    def texts(
        self, condition: Condition, k: int, filters: Filters, *, oldest_first: bool = False
    ) -> SentenceTexts:
        condition, filters = resolve_condition(self, condition), resolve_filters(self, filters)
        return read_texts(self.cluster, condition, k, filters, oldest_first)

    def count_holders(self, terms: Sequence[str]) -> Mapping[str, int]:
        return self.opened.statistics.count_holders(terms)

    def count_words(self, words: Sequence[str]) -> Mapping[str, int]:
        return self.opened.words.count_occurrences(words)

    def count_terms(
        self, condition: Condition, filters: Filters, most: int, language: str | None = None
    ) -> Mapping[str, int]:
        check_sentences(self.count([condition], filters)[0], most)
        found = self.texts(condition, most, filters)
        counts: Counter[str] = Counter()
        analyze = self.analyzer.for_language(language).terms
        for text in found.texts:
            counts.update(analyze(text))
        return counts

    def sum_lengths(
        self, by: LengthGroups, filters: Filters, condition: Condition | None = None
    ) -> Mapping[Any, int]:
        condition = condition and resolve_condition(self, condition)
        return sum_lengths(self.cluster, by, resolve_filters(self, filters), condition)

    def enrichment(self) -> AbstractContextManager[ElasticsearchEnrichment]:
        return open_enrichment(self._where_with_login)

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        plan, filters = resolve_plan(self, plan), resolve_filters(self, filters)
        return self.opened.evidence_reader.candidate_evidence(self.cluster, plan, filters)

    def document(self, document_id: str) -> Document:
        found = self.find_documents([document_id])
        if not found:
            raise NotFound(f"there is no document {document_id!r} in {self.where}")
        return found[document_id]

    def documents(self) -> Iterator[Document]:
        return read_documents(self.cluster)

    def find_documents(self, ids: Collection[str]) -> dict[str, Document]:
        hits = read_entries(self.cluster, self.cluster.documents_alias, ids, WITHOUT_CONTEXT)
        found = (decode_document(hit["_source"]) for hit in hits)
        return {document.id: document for document in found}

    def documents_at(self, numbers: Sequence[int]) -> list[Document]:
        return read_documents_at(self.cluster, numbers)

    def status(self) -> Mapping[str, Any]:
        collection = self.opened.statistics.lookup(()).collection
        loads = meta.searchable_loads(self.cluster)
        unresolved = count_unresolved(self.cluster)
        return {
            "engine": "elasticsearch",
            "server": self.cluster.server(),
            **({"lacks": list(lacks)} if (lacks := self.cluster.dialect.lacks) else {}),
            "where": self.where,
            "documents": collection.documents,
            "sentences": collection.sentences,
            "occurrences": collection.occurrences,
            "size_bytes": self._size_bytes(),
            "indices": sorted(name for load in loads for name in (load.index, load.documents_index)),
            "loads": len(loads),
            "profile": self._profile(loads[-1].index),
            **({"vector_index": GRAPH["type"]} if self.opened.encoders.has_graph() else {}),
            "enrichment": summarize_enrichment(self.cluster, loads),
            **({"unresolved_names": unresolved} if unresolved else {}),
            **self.description.as_dict(),
        }

    def _profile(self, index: str) -> str | None:
        """The profile of an index; None for a login that may only search."""
        from esr.elastic.write.writer import read_profile  # searches do without it

        with self.cluster.translate_errors():
            try:
                return read_profile(self.cluster, index)
            except AuthorizationException:
                return None

    def _size_bytes(self) -> int | None:
        """Bytes on disk, without replicas; None for a login that may only search."""
        indices = [f"{self.cluster.alias},{self.cluster.documents_alias}"]
        with self.cluster.translate_errors():
            try:
                answer = self.cluster.client.indices.stats(index=indices, metric="store")
            except AuthorizationException:
                return None
        size: int = answer["_all"]["primaries"]["store"]["size_in_bytes"]
        return size


class ElasticsearchIndex(ElasticsearchSnapshot):
    """An index behind an alias. It sees each load as soon as the alias moves."""

    def __init__(self, where: str) -> None:
        self._latest: tuple[AliasTargets, ElasticsearchSnapshot] | None = None
        cluster = Cluster(where)
        with cluster.closed_on_error():
            super().__init__(where, Opened(cluster))

    def snapshot(self) -> ElasticsearchSnapshot:
        """A snapshot of the indices behind the alias. Its statistics and results stay consistent."""
        self.cluster.switch_node()  # one node must report the alias and answer the searches
        with self.cluster.translate_errors():
            try:
                targets = self.cluster.look_up_targets()
            except AuthorizationException:
                return self  # a login that may only search sees a switch after some seconds
        latest = self._latest  # another thread with another node may replace it
        if latest is None or latest[0] != targets:
            latest = self._latest = targets, self._pin(targets)
        return latest[1]

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        presumed, failure = self._presume(), None
        if presumed is None:
            return work(self.snapshot())
        snapshot, presumption = presumed
        try:
            result = work(snapshot)
            if presumption.confirmed:
                return result
        except SnapshotOutdated:
            return work(self.snapshot())
        except EngineUnreachable:
            raise
        except EsrError as error:  # perhaps because the index is no longer served
            failure = error
        latest = self.snapshot()
        if latest.cluster is not snapshot.cluster:
            return work(latest)
        if failure is not None:
            raise failure
        return result

    def _presume(self) -> tuple[ElasticsearchSnapshot, Presumption] | None:
        """The last snapshot, presumed to be the latest, and the presumption, which its searches confirm.

        None if answers could not confirm it: of several loads, one may have no hits; of several nodes, one
        may not have seen a switch yet.
        """
        latest = self._latest  # another thread may replace it
        if latest is None or self.cluster.has_several_nodes:
            return None
        targets, opened = latest[0], latest[1].opened
        if not opened.is_pinned or not opened.shards or "," in targets.sentences:
            return None
        presumption = Presumption(self.cluster.aliases, targets, opened.shards)
        return ElasticsearchSnapshot(self._where_with_login, opened, presumption), presumption

    def _pin(self, targets: AliasTargets) -> ElasticsearchSnapshot:
        cluster = meta.pin_targets(self.cluster, targets)
        is_pinned = cluster.alias == targets.sentences
        return ElasticsearchSnapshot(self._where_with_login, Opened(cluster, is_pinned))
