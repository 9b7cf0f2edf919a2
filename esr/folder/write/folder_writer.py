"""Loads documents into an index folder: segments are written first, then one commit makes them visible.

A `FolderWriter` runs a `LoadSession`, which checks the documents and writes the segments. Ids of documents
and sentences must be unique in the whole index. Before a load and after a failed one, the folder is brought
into a defined state.

A migration to the current format loads the documents of the folder again, and copies stored enrichment.
Other writers are locked out until it has finished.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import accumulate, compress, count
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from esr.disk_errors import NO_SPACE
from esr.errors import EsrError, IndexMissing, InputError, UsageError
from esr.folder.format import manifest
from esr.folder.format.checkpoint import Checkpoint, read_checkpoint, remove_checkpoint, write_checkpoint
from esr.folder.format.clean_up import delete_unreferenced, remove_index
from esr.folder.format.damage import parts_of, require_intact
from esr.folder.format.files import create_folder, sync_folder, translate_disk_errors
from esr.folder.format.layer_info import LAYERS, LayerInfo, new_layer_name
from esr.folder.format.layers import copy_layer
from esr.folder.format.manifest import SEGMENTS, Manifest
from esr.folder.format.segment import Segment, is_position
from esr.folder.format.snapshot import describe_known_content, find_known_content, survey_terms
from esr.folder.format.strings import HashRuns
from esr.folder.format.writer_lock import hold_writer_lock
from esr.folder.write.batches import PreparedDocument, prepare
from esr.folder.write.existing_documents import ExistingDocuments, find_document, may_be_explicit
from esr.folder.write.rewriting import Changes, rewrite_segments
from esr.folder.write.segment_writer import SegmentWriter, WrittenSegment
from esr.index.generations import DEFAULT_KEEP, new_generation_name
from esr.index.writer import (
    Description,
    LoadOptions,
    LoadReport,
    SetAside,
    content_conflict,
    require_documents,
    sentence_id_conflict,
)
from esr.stdlib import blake2b, hash64
from esr.text.document import Document, Located, default_sentence_id
from esr.wording import count as count_of


class FolderWriter:
    """A load into a folder.

    With `append`, the documents of the last commit stay; otherwise they are replaced. Only one segment is
    held in memory. A crash at any time leaves the last commit intact, and `resume` continues from the
    segments that the killed load has written. `keep` generations are kept besides the new one.
    """

    is_migration = False

    def __init__(
        self,
        where: str | Path,
        description: Description,
        *,
        append: bool = False,
        keep: int = DEFAULT_KEEP,
        resume: bool = False,
        set_aside: SetAside | None = None,
    ) -> None:
        self._folder = Path(where)
        self._description = description
        self._append = append
        self._keep = keep
        self._resume = resume
        self._set_aside = set_aside
        self._base = _read_commit_number(self._folder)

    def load(self, documents: Iterable[Located]) -> LoadReport:
        """Load all documents or none. Raises InputError for a duplicate id, EsrError if the disk is full."""
        started = time.perf_counter()
        report = LoadReport(analyzer=self._description.analyzer)
        with translate_disk_errors(self._folder):
            if not (self._folder / manifest.MANIFEST_NAME).exists():
                create_folder(self._folder)
            with hold_writer_lock(self._folder):
                before = recover(self._folder, self._description)
                if before.commit_number != self._base:
                    raise EsrError(
                        f"another load into {self._folder} has finished since this one started: load again"
                    )
                command = "migrate" if self.is_migration else "load with --resume"
                with clean_up_load(self._folder, before, command):
                    written = self._write(documents, before, report)
                    self._commit(before, written)
                    report.terms = survey_terms(
                        [Segment(self._folder / SEGMENTS / name) for name in written.segments]
                    )
        report.seconds = time.perf_counter() - started
        return report

    def _write(self, documents: Iterable[Located], before: Manifest, report: LoadReport) -> Checkpoint:
        start = self._start(before)
        existing = ExistingDocuments(self._folder, before) if self._append else None
        session = LoadSession(self._folder, start, existing, self._set_aside, report)
        session.write(documents)
        if existing is not None:
            new = [Segment(self._folder / SEGMENTS / name) for name in session.checkpoint.segments]
            known = find_known_content(new, existing.of_same_periods(new))
            report.notes += describe_known_content(new, known)
        return session.checkpoint

    def _start(self, before: Manifest) -> Checkpoint:
        """The checkpoint to start from: an empty one, or that of an interrupted load."""
        name, base = new_generation_name(before.newest_name), before.commit_number
        start = Checkpoint(name, self._description, self._append, base, is_migration=self.is_migration)
        return start_or_resume(self._folder, start, self._resume)

    def _commit(self, before: Manifest, written: Checkpoint) -> None:
        if not written.segments and self._append:
            return
        existing = before.segments if self._append else ()
        segments, layers = (*existing, *written.segments), list(written.layers)
        if self._description.by is not None:
            segments, layers = self._order(before, existing, written)
        layers += self._copy_layers(before, segments)
        name = written.generation_name
        commit = before.next_generation(name, segments, self._description, layers, self._keep)
        checksums = {**commit.checksums, **written.checksums}
        manifest.commit(self._folder, replace(commit, checksums=checksums))

    def _order(
        self, before: Manifest, existing: Sequence[str], written: Checkpoint
    ) -> tuple[tuple[str, ...], list[LayerInfo]]:
        """Order the segments by their periods, and merge small ones of the same period.

        Returns the names of all segments, and the layers of the new ones.
        """
        old, new = (
            [Segment(self._folder / SEGMENTS / name) for name in names]
            for names in (existing, written.segments)
        )
        return rewrite_segments(self._folder, before, old, Changes(new, written.layers))

    def _copy_layers(self, before: Manifest, segments: Sequence[str]) -> list[LayerInfo]:
        """Copy layers that were not written with their documents. Only a migration has any."""
        return []


def _read_commit_number(folder: Path) -> int:
    """The number of the last commit, 0 without an index."""
    try:
        return manifest.read_any_format(folder).commit_number
    except EsrError:
        return 0


def describe_existing(where: str, if_exists: str) -> Description | None:
    """The description of the index in this folder, None if there is none.

    Raises IndexUnusable if the folder holds something else.
    """
    folder = Path(where)
    try:
        with translate_disk_errors(folder):
            commit = manifest.read_any_format(folder)
    except IndexMissing:
        return None
    return commit.description if commit.has_index else None


def create_writer(where: str, description: Description, options: LoadOptions, append: bool) -> FolderWriter:
    """Create the writer of a load. Raises IndexUnusable if asked to append to an index of another format."""
    if append:
        manifest.read_manifest(Path(where))
    return FolderWriter(
        where,
        description,
        append=append,
        keep=options.keep,
        resume=options.resume,
        set_aside=options.set_aside,
    )


class NotResumable(UsageError):
    """What `--resume` was given with is not what the interrupted load had. The interrupted load stays."""


_OTHER_DOCUMENTS = (
    "the documents are not those of the interrupted load: "
    "give the same documents, or start over without --resume"
)


class LoadSession:
    """Writes new segments and layers, to which only `checkpoint` refers before the commit.

    A resumed load reads the documents that the interrupted one had read, and checks that they are the same.
    """

    def __init__(
        self,
        folder: Path,
        start: Checkpoint,
        existing: ExistingDocuments | None,
        set_aside: SetAside | None,
        report: LoadReport,
    ) -> None:
        """`existing` are the documents of the index that the load appends to. Raises SegmentDamaged."""
        self.checkpoint: Checkpoint = start
        self._folder = folder
        self._start = start
        self._existing = existing
        self._places: deque[tuple[Segment, int] | None] = deque()
        """Where the index has each document that was looked up and not yet written."""
        require_intact(folder, parts_of(start.as_manifest()))
        self._new = [Segment(folder / SEGMENTS / name) for name in start.segments]
        self._set_aside = set_aside
        self._report = report
        self._read = 0
        self._digest = blake2b(digest_size=16)
        self._ids = IdRegistry(existing.segments if existing else ())
        self._ids.forget(self._new)

    def write(self, documents: Iterable[Located]) -> None:
        """Write all documents. Raises InputError for a bad document that cannot be set aside, or EsrError."""
        description = self._start.description
        # Not an attribute, since a reference cycle would keep the segments' files open.
        writer = SegmentWriter(self._folder, description, self._segments_written)
        with closing(prepare(documents, description, self._needs_payload())) as stream:
            for prepared in stream:
                self._read += 1
                self._digest.update(prepared.encoded)
                self._digest.update(prepared.paragraphs)
                if self._read == self._start.documents and self._digest.hexdigest() != self._start.digest:
                    raise NotResumable(_OTHER_DOCUMENTS)
                if self._accept(prepared):
                    writer.add(prepared)
        if self._read < self._start.documents:
            raise NotResumable(_OTHER_DOCUMENTS)
        require_documents(self._report)
        writer.flush()

    def _needs_payload(self) -> Callable[[Document], bool]:
        """A predicate of the documents to write, to be called once for each document in order.

        A document is written if the interrupted load has not read it and its id is new.
        """
        number = count(1)

        def needs_payload(document: Document) -> bool:
            place = self._existing.find_one(document.id) if self._existing else None
            self._places.append(place)
            return next(number) > self._start.documents and place is None

        return needs_payload

    def _accept(self, prepared: PreparedDocument) -> bool:
        """Count a document. Returns whether to write it."""
        document, report = prepared.document, self._report
        was_read = self._read <= self._start.documents
        if self._is_unchanged(prepared):
            report.documents += 1
            report.unchanged += 1
            return False
        if not (self._was_written(document) if was_read else self._register(prepared)):
            report.set_aside += 1
            return False
        report.documents += 1
        report.sentences += len(document.sentences)
        report.without_sentences += not document.sentences
        return not was_read

    def _is_unchanged(self, prepared: PreparedDocument) -> bool:
        """Whether the index has the same document.

        Raises InputError if the index has another document with the same id.
        """
        document, place = prepared.document, self._places.popleft()
        if place is None:
            return False
        segment, number = place
        if segment.document(number) != document:
            raise content_conflict(prepared.where, document.id)
        return True

    def _was_written(self, document: Document) -> bool:
        """Whether the interrupted load wrote this document. Otherwise it is set aside again."""
        places = (find_document([segment], document.id) for segment in self._new)
        was_written = any(place and place[0].document(place[1]) == document for place in places)
        if not was_written and self._set_aside:
            self._set_aside(document, "its id, or the id of one of its sentences, is already used")
        return was_written

    def _register(self, prepared: PreparedDocument) -> bool:
        """Register the ids of a document.

        If there are duplicates, it is set aside, or InputError is raised.
        """
        try:
            self._ids.register(prepared)
        except InputError as error:
            if self._set_aside is None:
                raise
            self._set_aside(prepared.document, str(error))
            return False
        return True

    def _segments_written(self, written: Sequence[WrittenSegment]) -> None:
        self._ids.forget([segment for segment, _ in written])
        checkpoint = self.checkpoint
        for segment, layer in written:
            self._new.append(segment)
            checkpoint = checkpoint.with_segment(segment.folder.name, layer)
        checkpoint = replace(checkpoint, documents=self._read, digest=self._digest.hexdigest())
        self.checkpoint = write_checkpoint(self._folder, checkpoint)


class IdRegistry:
    """Refuses duplicate ids of documents and sentences.

    Holds the ids of the segments being built, and the hashes of the document ids of those that were written.
    """

    def __init__(self, existing: Iterable[Segment] = ()) -> None:
        """`existing`: segments without the documents to be registered, but maybe with ids of sentences."""
        self._documents: dict[str, tuple[str, int]] = {}
        """For each document id, where the document was read, and its number of sentences."""
        self._explicit_ids: set[str] = set()
        self._unused_defaults: set[str] = set()
        """Default ids of sentences with explicit ids."""
        self._on_disk = list(existing)
        """The segments on disk whose ids are taken."""
        self._written_ids = HashRuns()
        self._has_explicit_ids = any(segment.has_explicit_ids for segment in self._on_disk)

    def register(self, prepared: PreparedDocument) -> None:
        """Register the ids of a document. Raises InputError for a duplicate, before registering any."""
        where, document = prepared.where, prepared.document
        self._check_document(where, document.id)
        # Default ids can only clash with explicit ids, which most loads do not have.
        if prepared.explicit_ids or self._has_explicit_ids:
            self._register_sentences(prepared)
        self._documents[document.id] = where, len(document.sentences)

    def forget(self, written: Iterable[Segment]) -> None:
        """Forget the ids of the segments being built, which are now on disk: these."""
        for segment in written:
            self._on_disk.append(segment)
            self._written_ids.add(segment.document_ids.hashes)
            self._has_explicit_ids = self._has_explicit_ids or segment.has_explicit_ids
        self._documents.clear()
        self._explicit_ids.clear()
        self._unused_defaults.clear()

    def _register_sentences(self, prepared: PreparedDocument) -> None:
        """Register the ids of a document's sentences, if any sentence has an explicit id."""
        where, document = prepared.where, prepared.document
        defaults = [default_sentence_id(document.id, n) for n in range(len(document.sentences))]
        doubtful = self._doubtful(defaults) if self._has_explicit_ids else set()
        if not prepared.explicit_ids and not doubtful:
            return
        ids: set[str] = set()
        explicit_ids: list[str] = []
        unused_defaults: list[str] = []
        for sentence, default in zip(document.sentences, defaults, strict=True):
            is_default = sentence.id == default
            needs_check = not is_default or default in doubtful
            if needs_check and self._is_used(sentence.id, document.id):
                raise sentence_id_conflict(where, sentence.id)
            if sentence.id in ids:
                raise sentence_id_conflict(where, sentence.id, document.id)
            ids.add(sentence.id)
            if not is_default:
                explicit_ids.append(sentence.id)
                unused_defaults.append(default)
        self._has_explicit_ids = self._has_explicit_ids or bool(explicit_ids)
        self._explicit_ids.update(explicit_ids)
        self._unused_defaults.update(unused_defaults)

    def _doubtful(self, defaults: Sequence[str]) -> set[str]:
        """The default ids that may be explicit ids of other sentences."""
        on_disk = compress(defaults, may_be_explicit(defaults, self._on_disk).tolist())
        return self._explicit_ids.intersection(defaults).union(on_disk)

    def _check_document(self, where: str, document_id: str) -> None:
        if document_id in self._documents:
            first = self._documents[document_id][0]
            raise InputError(where, f"document id {document_id!r} is duplicated: first used at {first}")
        if hash64(document_id) in self._written_ids and find_document(self._on_disk, document_id):
            raise InputError(where, f"document id {document_id!r} is duplicated in this load")

    def _is_used(self, sentence_id: str, own_document: str) -> bool:
        if sentence_id in self._explicit_ids:
            return True
        document_id, _, position = sentence_id.rpartition(".s")
        if document_id != own_document and document_id in self._documents and is_position(position):
            exists = int(position) < self._documents[document_id][1]
            if exists and sentence_id not in self._unused_defaults:
                return True
        return any(segment.find_sentence(sentence_id) is not None for segment in self._on_disk)


def recover(folder: Path, description: Description) -> Manifest:
    """Delete the files of a killed writer, and return the last commit.

    A new folder gets an empty commit, so that a crash leaves an index that can be opened.
    """
    if not (folder / manifest.MANIFEST_NAME).exists():
        manifest.commit(folder, Manifest(description))
    commit = manifest.read_any_format(folder)
    unfinished = read_checkpoint(folder)
    if unfinished is not None and commit.generation_name == unfinished.generation_name:
        remove_checkpoint(folder)  # the load was killed after its commit
    delete_unreferenced(folder)
    return commit


def start_or_resume(folder: Path, start: Checkpoint, resume: bool) -> Checkpoint:
    """The checkpoint to load from: that of the interrupted load, or `start`, which is then written.

    Raises NotResumable if the interrupted load cannot be resumed.
    """
    last = read_checkpoint(folder) if resume else None
    if last is None:
        remove_checkpoint(folder)
        delete_unreferenced(folder)
        write_checkpoint(folder, start)
        return start
    if (last.description, last.append, last.is_migration) != (
        start.description,
        start.append,
        start.is_migration,
    ):
        raise NotResumable(
            "the interrupted load had other options: give the same options, or start over without --resume"
        )
    if last.append and last.base != start.base:
        raise NotResumable(
            "the index has changed since the load was interrupted: start over without --resume"
        )
    if last.base != start.base:  # its name must be newer than generations created since
        last = replace(last, generation_name=start.generation_name)
        write_checkpoint(folder, last)
    return last


@contextmanager
def clean_up_load(folder: Path, before: Manifest, command: str) -> Iterator[None]:
    """Clean up after a load. A failed load leaves no trace, an interrupted one can be resumed.

    So can one that has filled the disk. Raises EsrError then, which says to give `command` again.
    """
    try:
        yield
    except NotResumable:
        raise
    except BaseException as error:
        unfinished = read_checkpoint(folder)
        is_full = isinstance(error, OSError) and error.errno in NO_SPACE
        if unfinished is not None and unfinished.segments and is_full:
            delete_unreferenced(folder)
            state = f"keeps {count_of(unfinished.documents, 'document')} of this load"
            with translate_disk_errors(folder, command, state):
                raise
        if isinstance(error, Exception) or unfinished is None or not unfinished.segments:
            remove_checkpoint(folder)
            delete_unreferenced(folder)
            if not before.commit_number:
                remove_index(folder)  # there was no index before
        raise
    remove_checkpoint(folder)
    delete_unreferenced(folder)


# Migration


class EmbeddedMigration(FolderWriter):
    """A load of the folder's own documents. If it is killed, it is resumed unless the index has changed."""

    is_migration = True

    def __init__(self, where: str | Path, keep: int = DEFAULT_KEEP) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._before = manifest.read_any_format(Path(where))
        super().__init__(where, self._before.description.renewed(), keep=keep, resume=True)
        self._base = self._before.commit_number
        if not self._before.has_index:
            raise IndexMissing(f"there is no index at {where}: make one with esr load")

    def run(self) -> LoadReport:
        """Migrate all documents or none. Raises EsrError if the index was changed meanwhile."""
        if self._before.format == manifest.FORMAT and self._before.description.is_current:
            return LoadReport(
                notes=[f"the index already has format {manifest.FORMAT}: there is nothing to do"]
            )
        last = read_checkpoint(self._folder)
        is_finished = last is None or last.generation_name == self._before.generation_name
        if last is not None and not is_finished and not last.is_migration:
            raise UsageError(
                f"a load into {self._folder} was interrupted or is running: finish it with "
                "esr load --resume, or discard it with esr delete, then migrate"
            )
        require_intact(self._folder, parts_of(self._before))
        documents = stored_documents(self._open(self._before.segments))
        return self.load(Located("index", document) for document in documents)

    def _start(self, before: Manifest) -> Checkpoint:
        last = read_checkpoint(self._folder)
        if last is not None and last.base != before.commit_number:
            remove_checkpoint(self._folder)  # the index, and thus its documents, has changed since
        return super()._start(before)

    def _copy_layers(self, before: Manifest, segments: Sequence[str]) -> list[LayerInfo]:
        old = {segment.folder.name: segment for segment in self._open(before.segments)}
        old_starts = dict(zip(old, _starts(old.values()), strict=False))
        new = self._open(segments)
        layers = [
            copy
            for layer in before.layers
            if layer.recipe is not None  # inline enrichment is loaded with its documents
            for segment, start in zip(new, _starts(new), strict=False)
            for copy in self._copy_layer(
                layer, old[layer.segment], old_starts[layer.segment] - start, segment
            )
        ]
        if layers:
            sync_folder(self._folder / LAYERS)
        return layers

    def _copy_layer(self, layer: LayerInfo, old: Segment, shift: int, new: Segment) -> Iterator[LayerInfo]:
        """Copy the part of a layer that covers documents of a new segment, numbered `shift` higher there."""
        start = max(layer.start + shift, 0)
        stop = min(layer.stop + shift, new.document_count)
        if start >= stop:
            return
        copy = LayerInfo(new_layer_name(), new.folder.name, start, stop, layer.parts, layer.recipe)
        sentences = None
        if copy.documents < layer.documents:
            documents = np.arange(layer.start, layer.stop)
            covered = (start - shift <= documents) & (documents < stop - shift)
            sentences = np.repeat(covered, np.diff(old.column("first"))[layer.start : layer.stop])
        copy_layer(self._folder, layer, copy, sentences)
        yield copy

    def _open(self, names: Sequence[str]) -> list[Segment]:
        return [Segment(self._folder / SEGMENTS / name) for name in names]


def stored_documents(segments: Sequence[Segment]) -> Iterator[Document]:
    """All documents of these segments, in order."""
    for segment in segments:
        yield from (segment.document(number) for number in range(segment.document_count))


def _starts(segments: Iterable[Segment]) -> list[int]:
    """The number of each segment's first document, counted over all segments, and the total."""
    return [0, *accumulate(segment.document_count for segment in segments)]
