"""One load: checks every document, and writes the new ones as segments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from hashlib import blake2b
from itertools import count
from pathlib import Path

from esr.documents import Document, Located
from esr.engines.options import SetAside
from esr.engines.segments.store import checkpoint
from esr.engines.segments.store.checkpoint import Checkpoint
from esr.engines.segments.store.layer_info import LayerInfo
from esr.engines.segments.store.manifest import SEGMENTS
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.writer.id_registry import IdRegistry
from esr.engines.segments.writer.prefetch import prepare
from esr.engines.segments.writer.prepared_document import PreparedDocument
from esr.engines.segments.writer.segment_writer import SegmentWriter
from esr.engines.writer import LoadReport, content_conflict, require_documents
from esr.errors import EsrError, InputError

_OTHER_DOCUMENTS = (
    "the documents are not those of the interrupted load: "
    "give the same documents, or start over without --resume"
)


class LoadSession:
    """Writes new segments and layers. Only `checkpoint` refers to them before the commit.

    A resumed load reads the documents that the interrupted one had written, and checks that they are the
    same.
    """

    def __init__(
        self,
        folder: Path,
        start: Checkpoint,
        existing: Sequence[str],
        set_aside: SetAside | None,
        report: LoadReport,
    ) -> None:
        """`existing` are the segments of the index that the load appends to."""
        self.checkpoint = start
        self._folder = folder
        self._start = start
        self._existing = [Segment(folder / SEGMENTS / name) for name in existing]
        self._new = [Segment(folder / SEGMENTS / name) for name in start.segments]
        self._set_aside = set_aside
        self._report = report
        self._read = 0
        self._digest = blake2b(digest_size=16)
        self._ids = IdRegistry()

    def write(self, documents: Iterable[Located]) -> None:
        """Write all documents. Raises InputError for one that cannot be set aside, or EsrError."""
        description = self._start.description
        # No attribute, since a cycle of references would keep the segments' files open.
        writer = SegmentWriter(self._folder, description, self._segment_written)
        with closing(prepare(documents, description, self._needs_payload())) as stream:
            for prepared in stream:
                self._read += 1
                self._digest.update(prepared.encoded)
                self._digest.update(prepared.paragraphs)
                if self._read == self._start.documents and self._digest.hexdigest() != self._start.digest:
                    raise EsrError(_OTHER_DOCUMENTS)
                if self._accept(prepared):
                    writer.add(prepared)
        if self._read < self._start.documents:
            raise EsrError(_OTHER_DOCUMENTS)
        require_documents(self._report)
        writer.flush()

    def _needs_payload(self) -> Callable[[Document], bool]:
        """Whether a document is to be written: the interrupted load did not read it, and its id is new."""
        number = count(1)

        def needs_payload(document: Document) -> bool:
            is_new = next(number) > self._start.documents
            return is_new and find_document(self._existing, document.id) is None

        return needs_payload

    def _accept(self, prepared: PreparedDocument) -> bool:
        """Count a document. Returns whether it is to be written."""
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
        """Whether the index has this very document. Raises InputError if it has another with that id."""
        document = prepared.document
        place = find_document(self._existing, document.id)
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
        """Register the ids of a document. One with duplicates is set aside, or raises InputError."""
        try:
            self._ids.register(prepared, [*self._existing, *self._new])
        except InputError as error:
            if self._set_aside is None:
                raise
            self._set_aside(prepared.document, str(error))
            return False
        return True

    def _segment_written(self, segment: Segment, layer: LayerInfo | None) -> None:
        self._ids.segment_written()
        self._new.append(segment)
        digest = self._digest.hexdigest()
        self.checkpoint = self.checkpoint.with_segment(segment.folder.name, layer, self._read, digest)
        checkpoint.write(self._folder, self.checkpoint)


def find_document(segments: Iterable[Segment], document_id: str) -> tuple[Segment, int] | None:
    """The segment that has a document, and its number there."""
    for segment in segments:
        number = segment.document_ids.find(document_id)
        if number is not None:
            return segment, number
    return None
