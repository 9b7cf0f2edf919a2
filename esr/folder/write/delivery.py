"""Deliveries to an index folder: adds, changes and deletes documents after a load.

Segments that lose documents are rewritten. Small neighbouring segments are merged. The others stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from esr.errors import EsrError, IndexMissing
from esr.folder.format import manifest
from esr.folder.format.clean_up import delete_unreferenced
from esr.folder.format.files import sync_together, translate_disk_errors
from esr.folder.format.manifest import SEGMENTS, Manifest, period_of_segment
from esr.folder.format.segment import Segment, read_counts
from esr.folder.format.snapshot import describe_known_content, find_known_content
from esr.folder.format.writer_lock import hold_writer_lock
from esr.folder.write.batches import prepare
from esr.folder.write.existing_documents import ExistingDocuments, Places, may_be_explicit
from esr.folder.write.folder_writer import IdRegistry, recover
from esr.folder.write.rewriting import Changes, rewrite_segments
from esr.folder.write.segment_writer import SegmentWriter, WrittenSegment
from esr.index.generations import DEFAULT_KEEP, new_generation_name
from esr.index.withdrawn import Withdrawn
from esr.index.writer import DeliveryReport, Description, FindIds, no_ids, sentence_id_conflict
from esr.stdlib import batched
from esr.text.document import Located
from esr.text.sentence_enrichment import REUSE
from esr.wording import count, list_examples


def has_table(folder: Path) -> bool:
    """Whether the index has a table of vectors. Raises IndexMissing or IndexUnusable."""
    return bool(manifest.read_manifest(folder).table)


def has_copies(folder: Path) -> bool:
    """Whether copies were looked for in the index. Raises IndexMissing or IndexUnusable."""
    return any(REUSE in layer.parts for layer in manifest.read_manifest(folder).layers)


MakeChanges = Callable[[Description, ExistingDocuments, DeliveryReport], Changes]
"""Called with the documents of the index; writes new segments, and counts changes in the report."""


class EmbeddedDelivery:
    """A delivery to a folder. It creates a generation of unchanged, rewritten and new segments."""

    def __init__(self, where: str | Path, keep: int = DEFAULT_KEEP) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._folder = Path(where)
        self._keep = keep
        if not manifest.read_manifest(self._folder).has_index:
            raise IndexMissing(f"there is no index at {self._folder}: make one with esr load")

    def append(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        def write(description: Description, old: ExistingDocuments, report: DeliveryReport) -> Changes:
            deleted: dict[str, set[int]] = {}
            writer = self._write_new(documents, description, old, report, deleted)
            _find_removed(find_removed(), old, report, deleted)
            changes = Changes(writer.segments, writer.layers, deleted)
            _check_sentence_ids(changes, old)
            return changes

        return self._apply("append", write)

    def compare(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        report = DeliveryReport()
        old = ExistingDocuments(self._folder, manifest.read_manifest(self._folder))
        places: Places = {}
        for located in _skip_unchanged(documents, old, report, places):
            if places.pop(located.document.id, None) is None:
                report.added += 1
            else:
                report.changed += 1
        _find_removed(find_removed(), old, report, {})
        return report

    def remove(self, ids: Iterable[str], before: int | None = None) -> DeliveryReport:
        removed = list(ids)
        withdrawn = Withdrawn(frozenset(removed) if before is None else frozenset(), before)

        def find(description: Description, old: ExistingDocuments, report: DeliveryReport) -> Changes:
            deleted: dict[str, set[int]] = {}
            _find_removed(removed, old, report, deleted)
            return Changes(deleted=deleted, withdrawn=withdrawn)

        return self._apply("remove", find)

    def withdrawn(self) -> Withdrawn:
        return manifest.read_manifest(self._folder).withdrawn

    def _write_new(
        self,
        documents: Iterable[Located],
        description: Description,
        old: ExistingDocuments,
        report: DeliveryReport,
        deleted: dict[str, set[int]],
    ) -> SegmentWriter:
        """Write new and changed documents as new segments."""
        ids = IdRegistry()

        def forget(written: Sequence[WrittenSegment]) -> None:
            ids.forget([segment for segment, _ in written])

        writer = SegmentWriter(self._folder, description, forget)
        places: Places = {}
        with closing(prepare(_skip_unchanged(documents, old, report, places), description)) as stream:
            for prepared in stream:
                ids.register(prepared)
                writer.add(prepared)
                place = places.pop(prepared.document.id, None)
                if place is None:
                    report.added += 1
                else:
                    report.changed += 1
                    deleted.setdefault(place[0].folder.name, set()).add(place[1])
        writer.flush()
        known = find_known_content(writer.segments, old.of_same_periods(writer.segments))
        report.notes += describe_known_content(writer.segments, known)
        return writer

    def _apply(self, command: str, make_changes: MakeChanges) -> DeliveryReport:
        """Make changes and commit them."""
        started = time.perf_counter()
        report = DeliveryReport()
        with translate_disk_errors(self._folder, command), hold_writer_lock(self._folder), self._clean_up():
            before = recover(self._folder, manifest.read_manifest(self._folder).description)
            old = ExistingDocuments(self._folder, before)
            with sync_together():  # sync new segments together with merged ones
                changes = make_changes(before.description, old, report)
                if report.has_changes:
                    self._commit(before, old.segments, changes, report)
                elif (unchanged := before.with_withdrawn(changes.update(before.withdrawn))) is not before:
                    manifest.commit(self._folder, unchanged)
        report.seconds = time.perf_counter() - started
        return report

    def _commit(
        self, before: Manifest, old: Sequence[Segment], changes: Changes, report: DeliveryReport
    ) -> None:
        segments, layers = rewrite_segments(self._folder, before, old, changes)
        name = new_generation_name(before.newest_name)
        commit = before.next_generation(name, segments, before.description, layers, self._keep)
        self._verify(commit, old, changes, report)
        report.notes += _describe_lost_periods(before, commit)
        manifest.commit(self._folder, replace(commit, withdrawn=changes.update(before.withdrawn)))
        if before.generation_name in {generation.generation_name for generation in commit.kept_generations}:
            report.notes.append(f"generation {before.generation_name} is kept: esr rollback goes back to it")

    @contextmanager
    def _clean_up(self) -> Iterator[None]:
        try:
            yield
        finally:
            delete_unreferenced(self._folder)

    def _verify(
        self, commit: Manifest, old: Sequence[Segment], changes: Changes, report: DeliveryReport
    ) -> None:
        """Check the number of documents. Checksums are compared when a segment is written."""
        expected = sum(segment.document_count for segment in (*old, *changes.segments))
        expected -= report.removed + report.changed
        count = sum(read_counts(self._folder / SEGMENTS / name)[0] for name in commit.segments)
        if count != expected:
            raise EsrError(
                f"{self._folder} would have {count} documents instead of {expected}, nothing was changed: "
                "check the disk and try again"
            )


def _describe_lost_periods(before: Manifest, after: Manifest) -> list[str]:
    """The note on periods of which no document remains."""
    old, new = ({period_of_segment(name) for name in commit.segments} for commit in (before, after))
    lost = sorted(period for period in old - new if period is not None)
    return [f"no documents remain of {list_examples(lost)} ({count(len(lost), 'period')})"] if lost else []


_TOGETHER = 256
"""Number of documents that are looked up at once."""


def _skip_unchanged(
    documents: Iterable[Located], old: ExistingDocuments, report: DeliveryReport, places: Places
) -> Iterator[Located]:
    """Yield the documents that are new or differ from the index. Adds the places of the latter."""
    for together in batched(documents, _TOGETHER):
        places_in_index = old.find([located.document.id for located in together])
        for located in together:
            place = places_in_index.get(located.document.id)
            if place is not None and place[0].document(place[1]) == located.document:
                report.unchanged += 1
                continue
            if place is not None:
                places[located.document.id] = place
            yield located


def _find_removed(
    ids: Iterable[str], old: ExistingDocuments, report: DeliveryReport, deleted: dict[str, set[int]]
) -> None:
    """Count the documents with these ids, and add their numbers to `deleted`, by segment."""
    removed = list(dict.fromkeys(ids))
    places = old.find(removed)
    for id in removed:
        place = places.get(id)
        if place is None:
            report.missing.append(id)
        else:
            report.removed += 1
            deleted.setdefault(place[0].folder.name, set()).add(place[1])


def _check_sentence_ids(changes: Changes, old: ExistingDocuments) -> None:
    """Raise InputError if a new sentence has the id of a remaining one."""
    explicit = [segment for segment in old.segments if segment.has_explicit_ids]
    for segment in changes.segments:
        is_doubtful = np.zeros(segment.sentence_count, bool)  # default ids contain the id of their document
        is_doubtful[segment.explicit_id_numbers] = True
        if explicit:
            is_doubtful |= may_be_explicit(segment.sentence_ids(np.arange(segment.sentence_count)), explicit)
        for number in np.flatnonzero(is_doubtful).tolist():
            id = segment.sentence_id(number)
            owner = _find_owner(id, changes, old)
            if owner is not None:
                document = segment.document_ids[int(segment.column("document")[number])]
                raise sentence_id_conflict(f"document {document!r}", id, owner)


def _find_owner(sentence_id: str, changes: Changes, old: ExistingDocuments) -> str | None:
    """The id of the remaining document that has this sentence, None if there is none."""
    for segment, document in old.find_owners(sentence_id):
        if document not in changes.deleted.get(segment.folder.name, ()):
            return segment.document_ids[document]
    return None
