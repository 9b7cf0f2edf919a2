"""Deliveries to Elasticsearch: the indices that change are copied, and the alias moves to the copies.

A refresh shows what was written shard by shard, so a delivery written into the serving indices would be seen
in part. The copy is verified before the alias moves, and the generation before can be gone back to.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from esr.batches import batched
from esr.documents import Document, Located
from esr.documents.serialisation import checksum
from esr.engines.delivery import DeliveryReport
from esr.engines.elasticsearch.cluster.asking import search
from esr.engines.elasticsearch.cluster.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.load.bulk import Action, send
from esr.engines.elasticsearch.load.copying import copied
from esr.engines.elasticsearch.load.sending import deletion, sent
from esr.engines.elasticsearch.load.spooled import outgoing, there
from esr.engines.elasticsearch.load.verifying import Contents, contents, settle, verify
from esr.engines.elasticsearch.store import meta, templates
from esr.engines.elasticsearch.store.generations import pruned, remove, serve, states
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.elasticsearch.store.stored import document_of
from esr.engines.generations import BROKEN
from esr.engines.options import LoadOptions
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import EngineUnreachable, EsrError, IndexMissing, InputError

_BATCH = 500
_CONTEXT_LEFT_OUT = {"excludes": ["context"]}


@dataclass(frozen=True, slots=True)
class Old:
    """A document that leaves: where it is, and what is counted of it."""

    document: Document
    documents_index: str
    checksum: str


class ElasticsearchDelivery:
    """Brings deliveries behind an alias."""

    def __init__(self, where: str, options: LoadOptions) -> None:
        """Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        self._options = options
        self._before = meta.served(self._cluster)
        if not self._before:
            raise IndexMissing(f"there is no index at {self._cluster.where}: make one with esr load")
        self._description = self._before[0].description

    def append(self, documents: Iterable[Located]) -> DeliveryReport:
        report = DeliveryReport()
        changed: list[str] = []
        return self._delivered(report, self._wanted(documents, report, changed), changed)

    def remove(self, ids: Iterable[str]) -> DeliveryReport:
        report = DeliveryReport()
        gone: list[str] = []
        for some in batched(dict.fromkeys(ids), _BATCH):
            known = self._checksums(some)
            gone += [id for id in some if id in known]
            report.missing += [id for id in some if id not in known]
        report.removed = len(gone)
        return self._delivered(report, (), gone)

    def _wanted(
        self, documents: Iterable[Located], report: DeliveryReport, changed: list[str]
    ) -> Iterator[Located]:
        """The documents that are not there, or have other content."""
        for some in batched(documents, _BATCH):
            known = self._checksums([located.document.id for located in some])
            for located in some:
                id = located.document.id
                if known.get(id) == checksum(located.document):
                    report.unchanged += 1
                    continue
                if id in known:
                    report.changed += 1
                    changed.append(id)
                else:
                    report.added += 1
                yield located

    def _checksums(self, ids: list[str]) -> dict[str, str]:
        """The checksums of those of these documents that are there."""
        return {old.document.id: checksum(old.document) for old in self._old(ids)}

    def _old(self, ids: Iterable[str]) -> Iterator[Old]:
        for some in batched(ids, _BATCH):
            answer = search(
                self._cluster,
                index=self._cluster.documents_alias,
                query={"ids": {"values": some}},
                size=len(some),
                source=_CONTEXT_LEFT_OUT,
            )
            for hit in answer["hits"]["hits"]:
                source = hit["_source"]
                yield Old(document_of(source), hit["_index"], source.get("checksum", ""))

    def _delivered(
        self, report: DeliveryReport, wanted: Iterable[Located], leaving: list[str]
    ) -> DeliveryReport:
        """Make a generation of what stays and what comes. `leaving` is whole when `wanted` has been read."""
        started = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory(prefix="esr-append-") as folder:
                fresh = self._spool(Path(folder) / "fresh", wanted)
                old = self._spool(
                    Path(folder) / "old", (Located("index", each.document) for each in self._old(leaving))
                )
                if report.any:
                    self._check_ids(fresh, set(leaving))
                    self._change(fresh, old, leaving, report)
        finally:
            self._cluster.close()
        report.seconds = time.perf_counter() - started
        return report

    def _spool(self, folder: Path, documents: Iterable[Located]) -> Snapshot:
        """Documents as an embedded index: it refuses ids that stand twice, and counts terms."""
        FolderWriter(folder, self._description).load(documents)
        return Snapshot(folder, manifest.read(folder))

    def _check_ids(self, fresh: Snapshot, leaving: set[str]) -> None:
        """Raises InputError where a new sentence has the id of one that stays."""
        for some in batched(_sentence_ids(fresh), _BATCH):
            answer = search(
                self._cluster,
                index=self._cluster.alias,
                query={"ids": {"values": list(some)}},
                size=len(some),
                source={"includes": ["document_id"]},
            )
            for hit in answer["hits"]["hits"]:
                if hit["_source"]["document_id"] not in leaving:
                    raise InputError(
                        f"sentence {hit['_id']!r}",
                        f"its id is taken by document {hit['_source']['document_id']!r}: "
                        "give every sentence its own id",
                    )

    def _change(self, fresh: Snapshot, old: Snapshot, leaving: list[str], report: DeliveryReport) -> None:
        cluster = self._cluster
        templates.install(cluster)
        for load, state in states(cluster):
            if state == BROKEN:
                remove(cluster, [load.index])
        gone: dict[str, list[Old]] = {}
        for each in self._old(leaving):
            gone.setdefault(each.documents_index, []).append(each)
        newest = self._before[-1]
        sources = [load for load in self._before if load.documents_index in gone or load is newest]
        names = [meta.new_name(cluster, number) for number in reversed(range(len(sources)))]
        members = (*(load.index for load in self._before if load not in sources), *names)
        copies: list[Load] = []
        moving = False
        try:
            for source, name in zip(sources, names, strict=True):
                copies.append(copied(cluster, source, name, members, heads=source is newest))
                expected = contents(cluster, source.index)
                self._take_away(copies[-1], gone.get(source.documents_index, []), expected)
                if source is newest:
                    self._add(copies[-1], fresh, old, expected)
                settle(cluster, name)
                verify(cluster, name, expected)
            moving = True
            serve(cluster, copies[-1])
        except BaseException as error:
            # Without an answer nobody knows whether the alias moves, and what it leads to must stay.
            if not (moving and isinstance(error, EngineUnreachable | KeyboardInterrupt | SystemExit)):
                with suppress(EsrError):
                    remove(cluster, names)
            raise
        with suppress(EsrError):
            for copy in copies:
                meta.write(cluster, replace(copy, complete=True))
        report.notes += pruned(cluster, self._options.keep, newest, copies[-1])

    def _take_away(self, copy: Load, gone: Iterable[Old], expected: Contents) -> None:
        def deletions() -> Iterator[Action]:
            for each in gone:
                expected.take_away(each.document.id, each.checksum, len(each.document.sentences))
                yield deletion(copy.documents_index, each.document.id)
                yield from (deletion(copy.index, sentence.id) for sentence in each.document.sentences)

        _accepted(refusal.reason for refusal in send(self._cluster, deletions()))

    def _add(self, copy: Load, fresh: Snapshot, old: Snapshot, expected: Contents) -> None:
        wanted = outgoing(fresh, copy, there(self._cluster, fresh, old))
        for chunk in sent(self._cluster, wanted, self._options.workers):
            _accepted(reason for _, reason in chunk.refused)
            for each in chunk.done:
                expected.add(each.document.id, each.entry["checksum"], len(each.sentences))


def _accepted(refusals: Iterable[str]) -> None:
    for reason in refusals:
        raise EsrError(f"{reason}; nothing was changed")


def _sentence_ids(spool: Snapshot) -> Iterator[str]:
    for segment in spool.segments:
        yield from (segment.sentence_id(number) for number in range(segment.sentence_count))
