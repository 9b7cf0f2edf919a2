"""Deliveries to Elasticsearch: indices are copied and changed, then the alias moves to the copies.

The serving indices are not changed in place: a refresh shows writes shard by shard, so searches would see
parts of a delivery. Copies link immutable files, so a copy takes seconds. Copies are verified before the
alias moves, and the previous generation is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from msgspec import structs

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.connection import LOAD_TIMEOUT
from esr.elastic.documents import WITHOUT_CONTEXT, decode_document
from esr.elastic.impacts import describe_after_delivery
from esr.elastic.meta import Load
from esr.elastic.requests import read_entries
from esr.elastic.statistics import read_collection_statistics
from esr.elastic.write.actions import deletion, send_documents
from esr.elastic.write.bulk import Action, send_bulk
from esr.elastic.write.delivery_parts import REFRESH, make_part, plan_delivery
from esr.elastic.write.generations import delete_indices, delete_old_generations, serve
from esr.elastic.write.load_owner import Heartbeat
from esr.elastic.write.spool import (
    ExistingCollection,
    greatest_loss,
    read_existing_collection,
    spool_actions,
    spool_periods,
    spool_sentence_ids,
    write_spool,
)
from esr.elastic.write.templates import install_templates
from esr.elastic.write.verification import (
    LOAD_SETTINGS,
    IndexContents,
    end_load_settings,
    find_sentence_owners,
    known_content_notes,
    read_contents,
    verify,
)
from esr.elastic.write.writer import delete_broken_loads
from esr.errors import EngineUnreachable, EsrError
from esr.folder.format.snapshot import Snapshot
from esr.index.withdrawn import Withdrawn
from esr.index.writer import DeliveryReport, FindIds, LoadOptions, no_ids, sentence_id_conflict
from esr.plans.plan import CollectionStatistics
from esr.processes import scratch_folder
from esr.stdlib import batched
from esr.text.document import Document, Located
from esr.text.validate import checksum

_BATCH = 500


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document in the index, with its index of documents and its stored checksum."""

    document: Document
    documents_index: str
    checksum: str


class _Removed(NamedTuple):
    """The ids and the checksum of a document to remove. Compact, since a delivery may replace very many."""

    id: str
    sentence_ids: tuple[str, ...]
    checksum: str


class ElasticsearchDelivery:
    """Applies deliveries to the index behind an alias."""

    def __init__(self, where: str, options: LoadOptions) -> None:
        """Open a delivery. Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        self._options = options
        with self._cluster.closed_on_error():
            self._loads = meta.searchable_loads(self._cluster)
            meta.check_complete(self._cluster)
        self._description = self._loads[0].description

    def append(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        report = DeliveryReport()
        replaced: list[str] = []
        changes = self._changes(documents, find_removed, report, replaced)
        added: list[str] = []  # of those that were removed for good
        return self._deliver(
            report, self._note_added(changes, added), replaced, lambda known: known.without(added)
        )

    def compare(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        report = DeliveryReport()
        with closing(self._cluster):
            for _ in self._changes(documents, find_removed, report, []):
                pass  # counted in the report
        return report

    def remove(self, ids: Iterable[str], before: int | None = None) -> DeliveryReport:
        report, ids = DeliveryReport(), list(ids)
        removed = self._find_removed(ids, report)
        return self._deliver(
            report, (), removed, lambda known: known.add(ids if before is None else (), before)
        )

    def withdrawn(self) -> Withdrawn:
        return self._loads[-1].withdrawn

    def _note_added(self, documents: Iterable[Located], added: list[str]) -> Iterator[Located]:
        """Yield the documents, and append the ids of those that were removed for good to `added`."""
        withdrawn = self.withdrawn().ids
        for located in documents:
            if located.document.id in withdrawn:
                added.append(located.document.id)
            yield located

    def _changes(
        self,
        documents: Iterable[Located],
        find_removed: FindIds,
        report: DeliveryReport,
        replaced: list[str],
    ) -> Iterator[Located]:
        """Yield the documents to add. Appends the ids of documents to remove to `replaced`."""
        yield from self._new_or_changed(documents, report, replaced)
        replaced += self._find_removed(find_removed(), report)

    def _find_removed(self, ids: Iterable[str], report: DeliveryReport) -> list[str]:
        """The ids among these that are in the index."""
        removed: list[str] = []
        for batch in batched(dict.fromkeys(ids), _BATCH):
            checksums = self._checksums(batch)
            removed += [id for id in batch if id in checksums]
            report.missing += [id for id in batch if id not in checksums]
        report.removed += len(removed)
        return removed

    def _new_or_changed(
        self, documents: Iterable[Located], report: DeliveryReport, changed: list[str]
    ) -> Iterator[Located]:
        """Yield the documents that the index does not contain, or contains with other content."""
        for batch in batched(documents, _BATCH):
            checksums = self._checksums([located.document.id for located in batch])
            for located in batch:
                id = located.document.id
                if checksums.get(id) == checksum(located.document):
                    report.unchanged += 1
                    continue
                if id in checksums:
                    report.changed += 1
                    changed.append(id)
                else:
                    report.added += 1
                yield located

    def _checksums(self, ids: list[str]) -> dict[str, str]:
        """The checksums of the documents that the index contains, computed from their content, by id."""
        return {indexed.document.id: checksum(indexed.document) for indexed in self._read(ids)}

    def _read(self, ids: Iterable[str]) -> Iterator[IndexedDocument]:
        for hit in read_entries(self._cluster, self._cluster.documents_alias, ids, WITHOUT_CONTEXT):
            source = hit["_source"]
            yield IndexedDocument(decode_document(source), hit["_index"], source.get("checksum", ""))

    def _deliver(
        self,
        report: DeliveryReport,
        documents: Iterable[Located],
        removed: list[str],
        update: Callable[[Withdrawn], Withdrawn],
    ) -> DeliveryReport:
        """Make a generation without `removed` and with `documents`.

        `removed` is complete only when all of `documents` has been read; then `update` returns the documents
        removed for good, given those before.
        """
        started = time.perf_counter()
        try:
            with scratch_folder("append") as folder:
                new_spool = write_spool(folder / "new", self._description, documents)
                old_documents = (Located("index", indexed.document) for indexed in self._read(removed))
                old_spool = write_spool(folder / "old", self._description, old_documents)
                if report.has_changes:
                    self._check_sentence_ids(new_spool, set(removed))
                    report.notes += known_content_notes(self._cluster, self._description, new_spool.segments)
                    self._change(new_spool, old_spool, removed, report, update)
                elif update(self.withdrawn()) != self.withdrawn():
                    self._write_withdrawn(update)
        finally:
            self._cluster.close()
        report.seconds = time.perf_counter() - started
        return report

    def _write_withdrawn(self, update: Callable[[Withdrawn], Withdrawn]) -> None:
        """Store the list of an index whose documents do not change.

        Raises EsrError if another generation is served now. The other fields of the description are read
        again, since enrichment may have recorded recipes since the delivery was opened.
        """
        loads = meta.searchable_loads(self._cluster)
        if [load.index for load in loads] != [load.index for load in self._loads]:
            raise EsrError(
                f"a load or a delivery has changed {self._cluster.where} meanwhile: nothing was changed, "
                "run the command again"
            )
        newest = loads[-1]
        meta.write(self._cluster, replace(newest, withdrawn=update(newest.withdrawn)))

    def _check_sentence_ids(self, new_spool: Snapshot, removed: set[str]) -> None:
        """Raise InputError if a new sentence has the id of a remaining sentence."""
        for sentence_id, owner in find_sentence_owners(self._cluster, spool_sentence_ids(new_spool)):
            if owner not in removed:
                raise sentence_id_conflict("this delivery", sentence_id, owner)

    def _change(
        self,
        new_spool: Snapshot,
        old_spool: Snapshot,
        removed: Sequence[str],
        report: DeliveryReport,
        update: Callable[[Withdrawn], Withdrawn],
    ) -> None:
        cluster = self._cluster
        install_templates(cluster)
        delete_broken_loads(cluster)
        removed_by_index: dict[str, list[_Removed]] = {}
        for indexed in self._read(removed):
            document = indexed.document
            of_document = _Removed(document.id, tuple(s.id for s in document.sentences), indexed.checksum)
            removed_by_index.setdefault(indexed.documents_index, []).append(of_document)
        newest = self._loads[-1]
        existing = read_existing_collection(cluster, new_spool, removed=old_spool)
        before = read_collection_statistics(cluster)
        after = _with_delivery(before, old_spool, new_spool)
        lost = greatest_loss(old_spool, new_spool)
        counts = {index: len(documents) for index, documents in removed_by_index.items()}
        plan = plan_delivery(cluster, self._loads, spool_periods(new_spool, self._description.by), counts)
        impacts = describe_after_delivery(newest.impacts, before, after, lost)
        is_switching = False
        try:
            with Heartbeat(cluster) as heartbeat:
                parts = [
                    make_part(cluster, part, plan, self._loads, impacts=impacts, heartbeat=heartbeat)
                    for part in plan.parts
                ]
                head = next(part for part in parts if part.is_head)
                expected: dict[str, IndexContents] = {}
                for part, load in zip(plan.parts, parts, strict=True):
                    contents = read_contents(cluster, *(() if part.source is None else (part.source.index,)))
                    expected[load.documents_index] = contents
                    if part.source is not None:
                        of_source = removed_by_index.get(part.source.documents_index, [])
                        self._remove_documents(load, of_source, contents)
                self._add_documents(head, new_spool, existing, expected)
                for part, load in zip(plan.parts, parts, strict=True):
                    end_load_settings(
                        cluster, load.index, names=LOAD_SETTINGS if part.source is None else [REFRESH]
                    )
                    verify(cluster, [load.index], expected[load.documents_index])
            served = meta.searchable_loads(cluster)[-1]  # its list may be longer than when it was opened
            head = replace(head, withdrawn=update(served.withdrawn))
            meta.write(cluster, head)
            is_switching = True
            serve(cluster, head, instead_of=[load.index for load in self._loads])
        except BaseException as error:
            # If the request fails, the alias may or may not have moved, so its indices are kept.
            if not (is_switching and isinstance(error, EngineUnreachable | KeyboardInterrupt | SystemExit)):
                with suppress(EsrError):
                    delete_indices(cluster, [part.name for part in reversed(plan.parts)])
            raise
        with suppress(EsrError):
            for load in parts:
                meta.write(cluster, replace(head if load.is_head else load, is_complete=True))
        report.notes += delete_old_generations(cluster, self._options.keep, newest, head)

    def _remove_documents(self, copy: Load, removed: Iterable[_Removed], expected: IndexContents) -> None:
        def deletions() -> Iterator[Action]:
            for document in removed:
                expected.remove(document.id, document.checksum, len(document.sentence_ids))
                yield deletion(copy.documents_index, document.id)
                yield from (deletion(copy.index, id) for id in document.sentence_ids)

        _require_no_rejections(item.reason for item in send_bulk(self._cluster, deletions()))

    def _add_documents(
        self,
        head: Load,
        new_spool: Snapshot,
        existing: ExistingCollection,
        expected: Mapping[str, IndexContents],
    ) -> None:
        documents = spool_actions(new_spool, head, existing)
        for chunk in send_documents(self._cluster, documents, self._options.workers):
            _require_no_rejections(reason for _, reason in chunk.rejected)
            for actions in chunk.indexed:
                contents = expected[actions.entry["_index"]]
                contents.add(actions.document.id, actions.entry["checksum"], len(actions.sentences))


def _with_delivery(
    collection: CollectionStatistics, removed: Snapshot, added: Snapshot
) -> CollectionStatistics:
    """The size of the collection after a delivery."""
    lost, gained = removed.statistics.collection, added.statistics.collection
    return structs.replace(
        collection,
        documents=collection.documents - lost.documents + gained.documents,
        sentences=collection.sentences - lost.sentences + gained.sentences,
        occurrences=collection.occurrences - lost.occurrences + gained.occurrences,
    )


def _require_no_rejections(reasons: Iterable[str]) -> None:
    for reason in reasons:
        raise EsrError(f"{reason}; nothing was changed")
