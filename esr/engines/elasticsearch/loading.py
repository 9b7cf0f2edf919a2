"""Loads documents into Elasticsearch: into fresh indices, then behind the aliases in one step.

The documents go through an embedded index in a temporary folder first. It refuses bad ids before
Elasticsearch sees anything, and it knows p(t|C) of the whole load, which the stored priors need.
A replacing load keeps the indices of the load before it; an appending one adds its own beside them.
"""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from elasticsearch import helpers

from esr import analysis
from esr.batches import batched
from esr.documents import Located
from esr.engines.elasticsearch import meta, templates
from esr.engines.elasticsearch.actions import Action, Bodies
from esr.engines.elasticsearch.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.statistics import AliasStatistics
from esr.engines.elasticsearch.stored import document_of
from esr.engines.embedded import manifest
from esr.engines.embedded.loading import EmbeddedLoading, changed
from esr.engines.embedded.snapshot import Snapshot
from esr.engines.index import Description, LoadReport
from esr.errors import EngineUnreachable, EsrError, IndexUnusable, InputError

_CHUNK = 1000
_CHUNK_BYTES = 8_000_000
_RETRIES = 8
_NAMED_FAILURES = 3
_PROCESS = secrets.token_hex(4)
"""Tells this process from an earlier one of the same number, as in a container that was started again."""


def existing(where: str) -> Description | None:
    """How the index behind this alias was made, or None. Raises IndexUnusable if it is something else."""
    cluster = Cluster(where)
    try:
        cluster.check_version()
        found = meta.read(cluster)
        for name in (cluster.alias, cluster.documents_alias):
            with cluster.errors():
                taken = cluster.client.indices.exists(index=name)
                is_alias = cluster.client.indices.exists_alias(name=name)
            if taken and not is_alias:
                raise IndexUnusable(
                    f"{cluster.url}/{name} is an index of its own: esr needs the name for an alias"
                )
        return found[0].description if found else None
    finally:
        cluster.close()


def start(where: str, description: Description, append: bool, shards: int | None) -> ElasticsearchLoading:
    return ElasticsearchLoading(where, description, append=append, shards=shards or 1)


class ElasticsearchLoading:
    """A load into Elasticsearch. Nothing of it is seen before all of it is there and counted."""

    def __init__(self, where: str, description: Description, *, append: bool, shards: int) -> None:
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        self._description = description
        self._append = append
        self._shards = shards

    def load(self, documents: Iterable[Located]) -> LoadReport:
        """Load all, or nothing that is seen. Raises EsrError with what Elasticsearch refused."""
        started = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory(prefix="esr-load-") as folder:
                spool = EmbeddedLoading(Path(folder) / "spool", self._description)
                unchanged = LoadReport()
                report = spool.load(self._new(documents, unchanged) if self._append else documents)
                report.unchanged = unchanged.unchanged
                report.documents += unchanged.unchanged
                if report.documents > report.unchanged or not self._append:
                    self._send(Path(folder) / "spool", report)
        finally:
            self._cluster.close()
        report.seconds = time.perf_counter() - started
        return report

    def _new(self, documents: Iterable[Located], report: LoadReport) -> Iterator[Located]:
        """The documents that the index does not hold. Raises InputError where it holds another of that id."""
        for some in batched(documents, _CHUNK):
            wanted = [located.document.id for located in some]
            with self._cluster.errors():
                answer = self._cluster.client.search(
                    index=self._cluster.documents_alias,
                    query={"ids": {"values": wanted}},
                    size=len(wanted),
                    source={"excludes": ["context"]},
                )
            known = {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]}
            for located in some:
                if located.document.id not in known:
                    yield located
                elif document_of(known[located.document.id]) == located.document:
                    report.unchanged += 1
                else:
                    raise InputError(located.where, changed(located.document.id))

    def _send(self, spool: Path, report: LoadReport) -> None:
        cluster = self._cluster
        templates.install(cluster)
        self._remove_abandoned()
        load = self._create()
        try:
            expected = self._bulk(Snapshot(spool, manifest.read(spool)), load)
            self._verify(load, expected)
        except BaseException:
            self._discard(load)
            raise
        for index in self._switch(load):
            report.notes.append(f"the load before is kept in {index}")

    def _create(self) -> meta.Load:
        stamp = datetime.now(UTC).strftime("%Y%m%dt%H%M%S%f")
        load = meta.Load(f"{self._cluster.alias}-{stamp}{meta.SENTENCES}", self._description, False, _owner())
        body = templates.creation(self._description, self._shards, _owner())
        with self._cluster.errors():
            for index in (load.index, load.documents_index):
                self._cluster.client.indices.create(index=index, **body)
        return load

    def _bulk(self, spool: Snapshot, load: meta.Load) -> dict[str, int]:
        """Send everything; returns how many entries each index must have."""
        refused: list[str] = []
        expected = {load.index: 0, load.documents_index: 0}

        def counted() -> Iterator[Action]:
            for action in self._actions(spool, load):
                expected[action["_index"]] += 1
                yield action

        with self._cluster.errors():
            results = helpers.streaming_bulk(
                self._cluster.client,
                counted(),
                chunk_size=_CHUNK,
                max_chunk_bytes=_CHUNK_BYTES,
                max_retries=_RETRIES,
                initial_backoff=0.5,
                max_backoff=30,
                raise_on_error=False,
            )
            for done, result in results:
                if not done:
                    refused.append(_refusal(result))
        if refused:
            named = "; ".join(refused[:_NAMED_FAILURES])
            raise EsrError(f"Elasticsearch refused {len(refused)} entries, nothing was switched: {named}")
        return expected

    def _actions(self, spool: Snapshot, load: meta.Load) -> Iterator[Action]:
        bodies = Bodies(
            analysis.get(self._description.analyzer), self._description, load.index, load.documents_index
        )
        elsewhere, total, order, document_order = self._elsewhere(spool)
        for segment in spool.segments:
            priors = spool.importance_of(segment, elsewhere, total)
            first = segment.column("first")
            for number in range(len(segment.documents)):
                cut = slice(int(first[number]), int(first[number + 1]))
                stored = {name: column[cut] for name, column in priors.items()}
                yield from bodies.of(segment.document(number), order + cut.start, document_order, stored)
                document_order += 1
            order += segment.sentence_count

    def _elsewhere(self, spool: Snapshot) -> tuple[dict[str, int], int, int, int]:
        """What the alias holds already: occurrences by term and in all, sentences and documents."""
        if not self._append:
            return {}, 0, 0, 0
        known = AliasStatistics(self._cluster)
        collection = known.get(()).collection
        occurrences: dict[str, int] = {}
        for segment in spool.segments:
            terms = (segment.terms[number] for number in range(len(segment.terms)))
            for some in batched(terms, _CHUNK):
                occurrences |= {term: found.cf for term, found in known.get(some).terms.items()}
        return occurrences, collection.occurrences, collection.sentences, collection.documents

    def _verify(self, load: meta.Load, expected: dict[str, int]) -> None:
        """Count what arrived. Raises EsrError if anything is missing."""
        client = self._cluster.client
        with self._cluster.errors():
            client.indices.put_settings(
                index=f"{load.index},{load.documents_index}", settings={"refresh_interval": None}
            )
            client.indices.refresh(index=f"{load.index},{load.documents_index}")
            for index, count in expected.items():
                arrived = client.count(index=index)["count"]
                if arrived != count:
                    raise EsrError(
                        f"{index} has {arrived} entries of {count}, nothing was switched: load again"
                    )

    def _switch(self, load: meta.Load) -> list[str]:
        """Put the load behind the aliases in one step; returns the indices that it replaced."""
        cluster = self._cluster
        before = [] if self._append else meta.read(cluster)
        actions: list[dict[str, Any]] = []
        for old in before:
            actions.append({"remove": {"index": old.index, "alias": cluster.alias}})
            actions.append({"remove": {"index": old.documents_index, "alias": cluster.documents_alias}})
        actions.append({"add": {"index": load.index, "alias": cluster.alias}})
        actions.append({"add": {"index": load.documents_index, "alias": cluster.documents_alias}})
        try:
            with cluster.errors():
                cluster.client.indices.update_aliases(actions=actions)
        except EngineUnreachable:
            raise  # Nobody knows whether the aliases moved. If not, the next load removes this one.
        except EsrError:
            self._discard(load)
            raise
        with suppress(EsrError):  # What is served is not removed, marked or not.
            self._mark_complete(load)
        return [old.index for old in before]

    def _mark_complete(self, load: meta.Load) -> None:
        """Say in the indices that this load was not cut off. Only what is served says so."""
        client = self._cluster.client
        with self._cluster.errors():
            for index in (load.index, load.documents_index):
                mapping = client.indices.get_mapping(index=index)[index]["mappings"]["_meta"]
                mapping["esr"]["complete"] = True
                client.indices.put_mapping(index=index, meta=mapping)

    def _remove_abandoned(self) -> None:
        """Remove what loads of this machine left when they were killed, at any moment before the switch."""
        served = {load.index for load in meta.read(self._cluster)}
        for load in meta.read(self._cluster, f"{self._cluster.alias}-*{meta.SENTENCES}"):
            if load.index not in served and not load.complete and _is_dead(load.owner):
                self._discard(load)

    def _discard(self, load: meta.Load) -> None:
        with self._cluster.errors():
            for index in (load.index, load.documents_index):
                self._cluster.client.indices.delete(index=index, ignore_unavailable=True)


def _owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{_PROCESS}"


def _is_dead(owner: str) -> bool:
    """Whether the loader was a process of this machine that is no more."""
    host, number, process = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    if int(number) == os.getpid():
        return process != _PROCESS
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _refusal(result: dict[str, Any]) -> str:
    (outcome,) = result.values()
    error = outcome.get("error", outcome)
    reason = error.get("reason", error) if isinstance(error, dict) else error
    return f"{outcome.get('_id')}: {reason}"
