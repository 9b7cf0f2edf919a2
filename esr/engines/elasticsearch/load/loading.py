"""Loads documents into Elasticsearch: into fresh indices, then behind the aliases in one step.

The documents go through an embedded index in a temporary folder first. It refuses bad ids before
Elasticsearch sees anything, and it knows p(t|C) of the whole load, which the stored priors need.
A replacing load keeps the generation before it; an appending one adds its indices beside the others.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from elasticsearch import BadRequestError

from esr.batches import batched
from esr.documents import Located
from esr.engines.elasticsearch.cluster.asking import refresh, search
from esr.engines.elasticsearch.cluster.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.load.planned import Planned, content_of
from esr.engines.elasticsearch.load.sending import Outgoing, sent
from esr.engines.elasticsearch.load.spooled import There, outgoing, there
from esr.engines.elasticsearch.load.verifying import Contents, settle, verify
from esr.engines.elasticsearch.store import meta, owner, templates
from esr.engines.elasticsearch.store.generations import pruned, remove, serve, states
from esr.engines.elasticsearch.store.impacts import possible, told
from esr.engines.elasticsearch.store.stored import document_of
from esr.engines.generations import BROKEN
from esr.engines.index import Description, LoadReport
from esr.engines.options import LoadOptions
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.engines.segments.writer.folder_writer import FolderWriter, changed
from esr.errors import EngineUnreachable, EsrError, InputError

_BATCH = 1000
_NAMED_FAILURES = 3


class ElasticsearchWriter:
    """A load into Elasticsearch. Nothing of it is seen before all of it is there and verified."""

    def __init__(self, where: str, description: Description, options: LoadOptions, *, append: bool) -> None:
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        self._description = description
        self._options = options
        self._append = append

    def load(self, documents: Iterable[Located]) -> LoadReport:
        """Load all, or nothing that is seen. Raises EsrError with what Elasticsearch refused."""
        started = time.perf_counter()
        planned = Planned()
        try:
            if self._append:
                meta.served(self._cluster)  # of this format, or there is no adding to it
            with tempfile.TemporaryDirectory(prefix="esr-load-") as folder:
                spool = FolderWriter(
                    Path(folder) / "spool",
                    self._description,
                    set_aside=planned.leaving_out(self._options.set_aside),
                )
                unchanged = LoadReport()
                wanted = self._new(documents, unchanged) if self._append else documents
                report = spool.load(planned.counted(wanted))
                report.unchanged = unchanged.unchanged
                report.documents += unchanged.unchanged
                if report.documents > report.unchanged or not self._append:
                    self._send(Path(folder) / "spool", planned, report)
        finally:
            self._cluster.close()
        report.seconds = time.perf_counter() - started
        return report

    def _new(self, documents: Iterable[Located], report: LoadReport) -> Iterator[Located]:
        """The documents that the index does not hold. Raises InputError where it holds another of that id."""
        for some in batched(documents, _BATCH):
            wanted = [located.document.id for located in some]
            answer = search(
                self._cluster,
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

    def _send(self, spool: Path, planned: Planned, report: LoadReport) -> None:
        cluster = self._cluster
        templates.install(cluster)
        snapshot = Snapshot(spool, manifest.read(spool))
        before = meta.behind(cluster)
        members = [load.index for load in before] if self._append else []
        load = self._taken_up(members, planned, snapshot) if self._options.resume else None
        taken_up = load is not None
        self._remove_abandoned(load)
        load = load or self._create(members, planned, snapshot)
        try:
            expected = self._transfer(snapshot, load, taken_up, report)
            settle(cluster, load.index)
            verify(cluster, load.index, expected)
            self._switch(load)
        except EngineUnreachable as error:
            # Nobody knows whether the aliases moved, if it was their turn. If not, the load can be taken up.
            raise EngineUnreachable(f"{error}; what was sent is kept: load again with --resume") from error
        except Exception:
            with suppress(EsrError):
                self._discard(load)
            raise
        with suppress(EsrError):  # What is served is not removed, marked or not.
            self._mark_complete(load)
        report.notes += pruned(cluster, self._options.keep, before[-1] if before else None, load)

    def _goal(self, planned: Planned) -> dict[str, Any]:
        """What tells this load from others."""
        return planned.as_dict()

    def _impacts(self, spool: Snapshot) -> dict[str, Any]:
        """What the load says of its impacts. They need the whole collection: an appending load has none."""
        prepared = self._options.prepared
        if prepared is None or self._append or not possible(prepared, spool.statistics.collection):
            return {}
        return told(prepared, spool.statistics.collection)

    def _create(self, members: list[str], planned: Planned, spool: Snapshot) -> meta.Load:
        name = meta.new_name(self._cluster)
        load = meta.Load(
            name,
            self._description,
            complete=False,
            owner=owner.me(),
            members=(*members, name),
            manifest=self._goal(planned),
            impacts=self._impacts(spool),
        )
        self._make(load)
        return load

    def _make(self, load: meta.Load, but: str | None = None) -> None:
        """Make both indices of a load, but one that is there."""
        options = self._options
        body = templates.creation(self._description, options.shards or 1, options.replicas, load.as_meta())
        indices = self._cluster.client.indices
        with self._cluster.errors():
            for index in (load.index, load.documents_index):
                if index == but:
                    continue
                try:
                    indices.create(index=index, **body)
                except BadRequestError:
                    # If the answer to a request is lost, it is sent again: then it is there already.
                    found = indices.get_mapping(index=index)
                    if found[index]["mappings"].get("_meta") != load.as_meta():
                        raise

    def _taken_up(self, members: list[str], planned: Planned, spool: Snapshot) -> meta.Load | None:
        """The load of the same documents that was cut off, if there is one."""
        served = {load.index for load in meta.behind(self._cluster)}
        for load in reversed(meta.every(self._cluster)):
            same = self._is_same(load, self._goal(planned), spool)
            mine = load.owner == owner.me() or owner.is_dead(load.owner) or owner.is_elsewhere(load.owner)
            cut_off = not load.complete and load.index not in served
            if same and mine and cut_off and load.members == (*members, load.index) and self._is_whole(load):
                taken = replace(load, owner=owner.me())
                meta.write(self._cluster, taken)
                return taken
        return None

    def _is_same(self, load: meta.Load, goal: Mapping[str, Any], spool: Snapshot) -> bool:
        """Whether a load is of these documents, and makes the same entries of them."""
        same = load.manifest == goal and load.description == self._description
        return same and load.impacts == self._impacts(spool)

    def _is_whole(self, load: meta.Load) -> bool:
        """Whether both indices are there: a loader can be killed between making the two."""
        with self._cluster.errors():
            return bool(self._cluster.client.indices.exists(index=load.documents_index))

    def _transfer(self, spool: Snapshot, load: meta.Load, taken_up: bool, report: LoadReport) -> Contents:
        """Send everything that is not there yet; returns what the indices must hold."""
        expected = Contents()
        refused: list[str] = []
        before = there(self._cluster, spool) if self._append else There()
        wanted = self._completed(outgoing(spool, load, before, self._is_mine))
        if taken_up:
            wanted = self._missing(wanted, load, expected)
        for chunk in sent(self._cluster, wanted, self._options.workers):
            for each in chunk.done:
                expected.add(each.document.id, each.entry["checksum"], len(each.sentences))
            for each, reason in chunk.refused:
                refused.append(reason)
                report.documents -= 1
                report.sentences -= len(each.sentences)
                if self._options.set_aside:
                    self._options.set_aside(each.document, reason)
            self._options.sent(len(chunk.done), report.documents)
        if refused and (not self._options.set_aside or not expected.documents):
            named = "; ".join(refused[:_NAMED_FAILURES])
            raise EsrError(f"{len(refused)} documents were refused, nothing was switched: {named}")
        report.set_aside += len(refused)
        return expected

    def _completed(self, wanted: Iterator[Outgoing]) -> Iterator[Outgoing]:
        """The same documents, with what is known of them beside what came with them."""
        return wanted

    def _is_mine(self, document_id: str) -> bool:
        """Whether this loader sends a document."""
        return True

    def _missing(self, wanted: Iterable[Outgoing], load: meta.Load, expected: Contents) -> Iterator[Outgoing]:
        """What of it the index does not hold yet. A document's entry is there when all of it is."""
        refresh(self._cluster, load.documents_index)
        for some in batched(wanted, _BATCH):
            ids = [each.document.id for each in some]
            answer = search(
                self._cluster,
                index=load.documents_index,
                query={"ids": {"values": ids}},
                size=len(ids),
                source={"includes": ["checksum", "enriched"]},
            )
            known = {hit["_id"]: content_of(hit["_source"]) for hit in answer["hits"]["hits"]}
            for each in some:
                if known.get(each.document.id) == content_of(each.entry):
                    expected.add(each.document.id, each.entry["checksum"], len(each.sentences))
                else:
                    yield each

    def _switch(self, load: meta.Load) -> None:
        """Put the load behind the aliases in one step."""
        serve(self._cluster, load)

    def _mark_complete(self, load: meta.Load) -> None:
        """Say in the indices that this load was not cut off. Only what is served says so."""
        meta.write(self._cluster, replace(load, complete=True))

    def _remove_abandoned(self, but: meta.Load | None) -> None:
        """Remove what loads of this machine left when they were killed, at any moment before the switch."""
        for load, state in states(self._cluster):
            if state == BROKEN and (but is None or load.index != but.index):
                self._discard(load)

    def _discard(self, load: meta.Load) -> None:
        remove(self._cluster, [load.index])
