"""Deliveries to an index folder: segments that lose documents are written again, the others stay."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from esr.documents import Located
from esr.engines.delivery import DeliveryReport, FindIds, no_ids
from esr.engines.embedded.maintenance.rewrite import Changes, rewrite_segments
from esr.engines.generations import DEFAULT_KEEP, new_generation_name
from esr.engines.segments.reader.known_content import describe_known_content, find_known_content
from esr.engines.segments.store import manifest
from esr.engines.segments.store.cleanup import delete_unreferenced
from esr.engines.segments.store.disk_errors import translate_disk_errors
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.store.writer_lock import hold_writer_lock
from esr.engines.segments.writer.id_registry import IdRegistry
from esr.engines.segments.writer.load_session import find_document
from esr.engines.segments.writer.prefetch import prepare
from esr.engines.segments.writer.recovery import recover
from esr.engines.segments.writer.segment_writer import SegmentWriter
from esr.engines.writer import Description, sentence_id_conflict
from esr.errors import EsrError, IndexMissing

MakeChanges = Callable[[Description, list[Segment], DeliveryReport], Changes]
"""Given the segments of the index, writes what is new, and counts it in the report."""


class EmbeddedDelivery:
    """A delivery makes a generation of the segments that stay, those written again, and new ones."""

    def __init__(self, where: str | Path, keep: int = DEFAULT_KEEP) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._folder = Path(where)
        self._keep = keep
        if not manifest.read(self._folder).has_index:
            raise IndexMissing(f"there is no index at {self._folder}: make one with esr load")

    def append(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        def write(description: Description, old: list[Segment], report: DeliveryReport) -> Changes:
            deleted: dict[str, set[int]] = {}
            writer = self._write_new(documents, description, old, report, deleted)
            _find_removed(find_removed(), old, report, deleted)
            changes = Changes(writer.segments, writer.layers, deleted)
            _check_sentence_ids(changes, old)
            return changes

        return self._apply("append", write)

    def compare(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        report = DeliveryReport()
        segments = [Segment(self._folder / SEGMENTS / name) for name in manifest.read(self._folder).segments]
        for located in _skip_unchanged(documents, segments, report):
            if find_document(segments, located.document.id) is None:
                report.added += 1
            else:
                report.changed += 1
        _find_removed(find_removed(), segments, report, {})
        return report

    def remove(self, ids: Iterable[str]) -> DeliveryReport:
        def find(description: Description, old: list[Segment], report: DeliveryReport) -> Changes:
            deleted: dict[str, set[int]] = {}
            _find_removed(ids, old, report, deleted)
            return Changes(deleted=deleted)

        return self._apply("remove", find)

    def _write_new(
        self,
        documents: Iterable[Located],
        description: Description,
        old: list[Segment],
        report: DeliveryReport,
        deleted: dict[str, set[int]],
    ) -> SegmentWriter:
        """Write the new and the changed documents as new segments."""
        ids = IdRegistry()
        writer = SegmentWriter(self._folder, description, lambda segment, layer: ids.segment_written())
        with closing(prepare(_skip_unchanged(documents, old, report), description)) as stream:
            for prepared in stream:
                ids.register(prepared, writer.segments)
                writer.add(prepared)
                place = find_document(old, prepared.document.id)
                if place is None:
                    report.added += 1
                else:
                    report.changed += 1
                    deleted.setdefault(place[0].folder.name, set()).add(place[1])
        writer.flush()
        known = find_known_content(writer.segments, old)
        report.notes += describe_known_content(writer.segments, known)
        return writer

    def _apply(self, command: str, make_changes: MakeChanges) -> DeliveryReport:
        """Make changes and commit them."""
        started = time.perf_counter()
        report = DeliveryReport()
        with translate_disk_errors(self._folder, command), hold_writer_lock(self._folder), self._clean_up():
            before = recover(self._folder, manifest.read(self._folder).description)
            old = [Segment(self._folder / SEGMENTS / name) for name in before.segments]
            changes = make_changes(before.description, old, report)
            if report.has_changes:
                self._commit(before, old, changes, report)
        report.seconds = time.perf_counter() - started
        return report

    def _commit(self, before: Manifest, old: list[Segment], changes: Changes, report: DeliveryReport) -> None:
        commit = rewrite_segments(
            self._folder, before, changes, new_generation_name(before.newest_name), self._keep
        )
        self._verify(commit, old, changes, report)
        manifest.commit(self._folder, commit)
        if before.generation_name in {kept.generation_name for kept in commit.kept_generations}:
            report.notes.append(f"generation {before.generation_name} is kept: esr rollback goes back to it")

    @contextmanager
    def _clean_up(self) -> Iterator[None]:
        try:
            yield
        finally:
            delete_unreferenced(self._folder)

    def _verify(self, commit: Manifest, old: list[Segment], changes: Changes, report: DeliveryReport) -> None:
        """Count documents. Their checksums were compared when each segment was written."""
        expected = sum(segment.document_count for segment in (*old, *changes.segments))
        expected -= report.removed + report.changed
        found = sum(Segment(self._folder / SEGMENTS / name).document_count for name in commit.segments)
        if found != expected:
            raise EsrError(
                f"{self._folder} would have {found} documents instead of {expected}, nothing was changed: "
                "check the disk and try again"
            )


def _skip_unchanged(
    documents: Iterable[Located], old: list[Segment], report: DeliveryReport
) -> Iterator[Located]:
    """The documents that the index does not have as they are."""
    for located in documents:
        place = find_document(old, located.document.id)
        if place is not None and place[0].document(place[1]) == located.document:
            report.unchanged += 1
        else:
            yield located


def _find_removed(
    ids: Iterable[str], old: list[Segment], report: DeliveryReport, deleted: dict[str, set[int]]
) -> None:
    """Count the documents with these ids, and add their numbers in their segments to `deleted`."""
    for id in dict.fromkeys(ids):
        place = find_document(old, id)
        if place is None:
            report.missing.append(id)
        else:
            report.removed += 1
            deleted.setdefault(place[0].folder.name, set()).add(place[1])


def _check_sentence_ids(changes: Changes, old: list[Segment]) -> None:
    """Raises InputError if a new sentence has the id of one that stays."""
    if not any(segment.has_explicit_ids for segment in (*changes.segments, *old)):
        return  # default ids contain the id of their document
    for segment in changes.segments:
        for number in range(segment.sentence_count):
            id = segment.sentence_id(number)
            owner = _find_owner(id, changes, old)
            if owner is not None:
                document = segment.document_ids[int(segment.column("document")[number])]
                raise sentence_id_conflict(f"document {document!r}", id, owner)


def _find_owner(sentence_id: str, changes: Changes, old: list[Segment]) -> str | None:
    """The id of the remaining document that has this sentence."""
    for segment in old:
        sentence = segment.find_sentence(sentence_id)
        if sentence is not None:
            document = int(segment.column("document")[sentence])
            if document not in changes.deleted.get(segment.folder.name, ()):
                return segment.document_ids[document]
    return None
