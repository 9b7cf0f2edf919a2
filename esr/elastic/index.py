"""The interface `Index` for an index in Elasticsearch, behind an alias.

Searches run on snapshots, which name the indices behind the alias and stay consistent if it moves.
`on_latest` saves the request for looking up the alias: it presumes that the alias has not moved, which the
answer confirms (`Presumption`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, overload

from elasticsearch import AuthorizationException
from msgspec.structs import replace

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.connection import AliasTargets
from esr.elastic.documents import (
    WITHOUT_CONTEXT,
    decode_document,
    read_documents,
    read_documents_at,
    sentence_field,
)
from esr.elastic.impacts import EMPTY, Slack, find_slack
from esr.elastic.requests import read_entries, search
from esr.elastic.search import plan_query
from esr.elastic.search.answers import (
    count_fields,
    count_groups,
    look_up,
    read,
    read_fact,
    select,
    summarize_periods,
)
from esr.elastic.search.counts import count_sentences
from esr.elastic.search.evidence import SCRIPTS as SIMILARITY_SCRIPTS
from esr.elastic.search.evidence import add_rescoring, find_nearest
from esr.elastic.search.opened_alias import OpenedAlias
from esr.elastic.search.plan_query import condition_query, filter_clauses, search_body
from esr.elastic.search.pruned_search import search_pruned
from esr.elastic.search.sentence_search import Presumption, Search, SnapshotOutdated
from esr.elastic.statistics import STATISTICS_SCRIPTS
from esr.elastic.vectors import GRAPH
from esr.elastic.write.enrichment import (
    ElasticsearchEnrichment,
    count_unresolved,
    open_enrichment,
    summarize_enrichment,
)
from esr.elastic.write.writer import read_profile
from esr.errors import EngineUnreachable, EsrError, UsageError
from esr.index.contract import Index, Result
from esr.index.filters import Filters, resolve_by_field, resolve_condition, resolve_filters, resolve_plan
from esr.index.hits import CandidateEvidence, Hit, SearchResult
from esr.index.questions import (
    Answer,
    ByField,
    Column,
    Fact,
    Grouping,
    Lookup,
    Readiness,
    Selection,
    Summary,
)
from esr.index.similarities import SimilarityRescoring
from esr.index.writer import Description
from esr.plans.plan import CollectionStatistics, Condition, Plan, Statistics, Unprunable
from esr.text.analyzer import Analyzer
from esr.text.document import Document
from esr.text.sentence_enrichment import QuantizedVector


class ElasticsearchSnapshot(Index):
    """An `Index` that answers from what was opened. If that is pinned, its indices never change.

    A search checks the `presumption`, if any, that the aliases still point to these indices.
    """

    def __init__(
        self, where_with_login: str, opened: OpenedAlias, presumption: Presumption | None = None
    ) -> None:
        self._where_with_login = where_with_login
        self.opened = opened
        self._presumption = presumption
        self.cluster: Cluster = opened.cluster
        self.where: str = opened.cluster.where
        self.description: Description = opened.description
        self.analyzer: Analyzer = opened.analyzer

    def close(self) -> None:
        self.cluster.close()

    def snapshot(self) -> ElasticsearchSnapshot:
        return self

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return work(self)

    def warm_up(self) -> None:
        """Do nothing: Elasticsearch needs no preparation."""

    def status(self, fact: Fact[Answer]) -> Answer:
        answer: Answer
        match fact:
            case Summary():
                answer = self._summarize()
            case Readiness():
                answer = self._check_ready()
            case _:
                answer = read_fact(self.opened, fact)
        return answer

    def _check_ready(self) -> Any:
        meta.searchable_loads(self.cluster)
        # Any user who may search may use stored scripts, but few may read them. So a search compiles them
        # all. It scores no hit and needs no parameters.
        has_term = {"term": {sentence_field(self.description): EMPTY}}
        scripts = [
            {"script_score": {"query": has_term, "script": {"id": script}}}
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

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        return self._of_available(lambda opened: opened.statistics.lookup(terms, language))

    def _of_available(self, read: Callable[[OpenedAlias], Result]) -> Result:
        """What `read` returns for the index, or, if its shards do not answer, for its available periods."""
        opened = self.opened.available()
        try:
            return read(opened)
        except EngineUnreachable:
            available = opened.available(anew=True)
            if available is opened:
                raise
            return read(available)

    def bounded_collection(self, plan: Plan) -> CollectionStatistics:
        """The collection's statistics, with the ranges of values in the columns of the plan."""
        return self._of_available(lambda opened: opened.statistics.bounded_collection(plan.static_scores))

    def vocabulary(self, lookup: Lookup[Answer]) -> Answer:
        answer: Answer = look_up(self.opened, lookup)
        return answer

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        plan, filters = resolve_plan(self, plan), resolve_filters(self, filters)
        collection = self.bounded_collection(plan)
        opened = self.opened.available()
        cluster = opened.within(filters)

        def start(slack: Slack | None = None) -> Search:
            presumption, shards = self._presumption, opened.shards
            search = Search(cluster, plan, collection, filters, records, slack, presumption, shards)
            search.incomplete = opened.lacks
            return search

        result: SearchResult | Unprunable = Unprunable("the alias may move between two requests")
        if opened.is_pinned:
            statistics = self.statistics(plan.candidate_terms)
            slack = find_slack(opened.impacts, plan, statistics)
            result = search_pruned(start(slack), k, statistics)
        if isinstance(result, Unprunable):
            result = start().exhaustive(k, result.reason)
        if result.incomplete is None or opened.lacks is not None:
            return result
        named = None
        with suppress(EngineUnreachable):  # no time may be left, and the hits are worth more
            # OpenSearch does not name the indices whose shards have no copy.
            named = opened.describe_unavailable()
        return replace(result, incomplete=named or result.incomplete)

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

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        plan, filters = resolve_plan(self, plan), resolve_filters(self, filters)
        self.opened.require(filters)
        return self.opened.evidence_reader.candidate_evidence(self.opened.within(filters), plan, filters)

    def select(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        selection: Selection[Answer],
        *,
        oldest_first: bool = False,
    ) -> Answer:
        condition, filters = resolve_condition(self, condition), resolve_filters(self, filters)
        self.opened.require(filters)
        selected: Answer = select(self.opened, condition, k, filters, selection, oldest_first)
        return selected

    def nearest(
        self, encoder: str, query: QuantizedVector, k: int, condition: Condition | None, filters: Filters
    ) -> list[Hit]:
        resolved = None if condition is None else resolve_condition(self, condition)
        filters = resolve_filters(self, filters)
        clauses, cluster = filter_clauses(filters), self.opened.within(filters)
        clauses += [] if resolved is None else [condition_query(resolved)]
        marks = self.opened.encoders.fingerprints(encoder)
        return find_nearest(cluster, marks, query, k, clauses, self.opened.encoders.has_graph())

    @overload
    def count(self, conditions: Sequence[Condition | None], filters: Filters) -> list[int]: ...
    @overload
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Answer]
    ) -> list[Answer]: ...
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Any] | None = None
    ) -> list[Any]:
        resolved = [condition and resolve_condition(self, condition) for condition in conditions]
        if isinstance(by, ByField):
            filters_by_field = resolve_by_field(self, filters, by)
            for of_field in filters_by_field.values():
                self.opened.require(of_field)
            return count_fields(self.opened, resolved, filters_by_field, by.size)
        filters = resolve_filters(self, filters)
        self.opened.require(filters)
        if by is None:
            return count_sentences(self.opened.within(filters), resolved, filters)
        return count_groups(self.opened, by, resolved, filters)

    def read(
        self, ids: Sequence[str], column: Column[Answer], ordinals: Sequence[int] | None = None
    ) -> Answer:
        answer: Answer = read(self.opened, ids, column, ordinals)
        return answer

    def documents(
        self, ids: Collection[str] | None = None, *, positions: Sequence[int] | None = None
    ) -> Iterable[Document]:
        if ids is not None:
            hits = read_entries(self.cluster, self.cluster.documents_alias, ids, WITHOUT_CONTEXT)
            documents = [decode_document(hit["_source"]) for hit in hits]
            if len(documents) < len({*ids}):
                self.opened.require()
            return documents
        self.opened.require()
        if positions is not None:
            return read_documents_at(self.cluster, positions)
        return read_documents(self.cluster)

    def enrichment(self) -> AbstractContextManager[ElasticsearchEnrichment]:
        return open_enrichment(self._where_with_login)

    def _summarize(self) -> Any:
        collection = self.opened.statistics.lookup(()).collection
        loads = meta.searchable_loads(self.cluster)
        unresolved = count_unresolved(self.cluster)
        return {
            "engine": "elasticsearch",
            "server": self.cluster.server(),
            **({"lacks": list(lacks)} if (lacks := self.cluster.dialect.lacks) else {}),
            "where": self.where,
            **({} if self.opened.lacks is None else {"incomplete": self.opened.lacks}),
            "documents": collection.documents,
            "sentences": collection.sentences,
            "occurrences": collection.occurrences,
            "size_bytes": self._size_bytes(),
            "indices": sorted(name for load in loads for name in (load.index, load.documents_index)),
            "loads": len(loads),
            **({} if self.description.by is None else {"periods": summarize_periods(self.cluster, loads)}),
            "profile": self._profile(loads[-1].index),
            **({"vector_index": GRAPH["type"]} if self.opened.encoders.has_graph() else {}),
            "enrichment": summarize_enrichment(self.cluster, loads),
            **({"unresolved_names": unresolved} if unresolved else {}),
            **self.description.as_dict(),
        }

    def _profile(self, index: str) -> str | None:
        """The profile of an index; None for a login that may only search."""
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
            super().__init__(where, OpenedAlias(cluster))

    def snapshot(self) -> ElasticsearchSnapshot:
        """A snapshot of the indices behind the alias. Its statistics and results stay consistent."""
        self.cluster.switch_node()  # one node must report the alias and answer the searches
        with self.cluster.translate_errors():
            try:
                targets = self.cluster.look_up_targets(in_part=True)
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
        is_pinned = cluster is not self.cluster
        return ElasticsearchSnapshot(self._where_with_login, OpenedAlias(cluster, is_pinned))
