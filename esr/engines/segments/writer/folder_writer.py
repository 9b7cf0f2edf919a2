"""Loads documents into an index folder: segments first, then one commit that shows them all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from itertools import count
from pathlib import Path

from esr.documents import Document, Located
from esr.engines.generations import KEEP, stamp
from esr.engines.index import Description, LoadReport
from esr.engines.options import LoadOptions, SetAside
from esr.engines.segments.store import checkpoint, manifest
from esr.engines.segments.store.checkpoint import Checkpoint
from esr.engines.segments.store.disk import disk_errors
from esr.engines.segments.store.layer import Run
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.writer.id_registry import Taken
from esr.engines.segments.writer.prefetch import Coming, coming
from esr.engines.segments.writer.segment_writer import SegmentWriter
from esr.errors import EsrError, InputError, UsageError

_OTHER_SOURCES = (
    "the documents are not those of the load that was cut off: give the same, or leave out --resume"
)


class FolderWriter:
    """A load into a folder. `append` keeps what the last commit holds, else the load replaces it.

    Memory stays that of one segment. A crash at any moment leaves the last commit, and `resume` takes up
    what a load before this one had written when it was killed. `keep` generations stay beside the new one.
    """

    _migrates = False

    def __init__(
        self,
        where: str | Path,
        description: Description,
        *,
        append: bool = False,
        keep: int = KEEP,
        resume: bool = False,
        set_aside: SetAside | None = None,
    ) -> None:
        self._folder = Path(where)
        self._description = description
        self._append = append
        self._keep = keep
        self._resume = resume
        self._set_aside = set_aside
        self._generation = _generation(self._folder)

    def load(self, documents: Iterable[Located]) -> LoadReport:
        """Load all, or nothing. Raises InputError for a repeated id, EsrError when the disk is full."""
        started = time.perf_counter()
        report = LoadReport()
        with disk_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with manifest.lock(self._folder):
                before = begun(self._folder, self._description)
                if before.generation != self._generation:
                    raise EsrError(
                        f"another load into {self._folder} has ended since this one began: load again"
                    )
                with taken_back(self._folder, before):
                    self._commit(before, self._write(documents, before, report))
        report.seconds = time.perf_counter() - started
        return report

    def _write(self, documents: Iterable[Located], before: Manifest, report: LoadReport) -> Checkpoint:
        """Write new segments and layers. Nothing refers to them yet but the checkpoint that is returned."""
        reached = self._reached(before)
        old = [self._segment(name) for name in (before.segments if self._append else ())]
        new = [self._segment(name) for name in reached.segments]
        digest = blake2b(digest_size=16)
        taken = Taken()

        def written(segment: Segment, layer: Run | None) -> None:
            nonlocal reached
            taken.closed()
            new.append(segment)
            name = segment.folder.name
            reached = reached.after(name, layer, read, digest.hexdigest())
            checkpoint.write(self._folder, reached)

        writer = SegmentWriter(self._folder, self._description, written)
        done, read = reached.documents, 0
        with closing(coming(documents, self._description, _wanted(done, old))) as ready:
            for each in ready:
                document = each.document
                read += 1
                digest.update(each.code)
                if read == done and digest.hexdigest() != reached.content:
                    raise EsrError(_OTHER_SOURCES)
                if _unchanged(each.where, document, old):
                    report.documents += 1
                    report.unchanged += 1
                elif self._holds(new, document) if read <= done else self._takes(taken, each, [*old, *new]):
                    report.documents += 1
                    report.sentences += len(document.sentences)
                    report.without_sentences += not document.sentences
                    if read > done:
                        writer.add(each)
                else:
                    report.set_aside += 1
        if read < done:
            raise EsrError(_OTHER_SOURCES)
        if report.set_aside and not report.documents:
            raise EsrError("every document was set aside: nothing was switched")
        writer.flush()
        return reached

    def _holds(self, segments: list[Segment], document: Document) -> bool:
        """Whether a load that was cut off has written this document. If not, it is set aside again."""
        there = any(
            number is not None and segment.document(number) == document
            for segment in segments
            for number in [segment.documents.find(document.id)]
        )
        if not there and self._set_aside:
            self._set_aside(document, "its id, or that of one of its sentences, is taken")
        return there

    def _takes(self, taken: Taken, coming: Coming, closed: list[Segment]) -> bool:
        """Take a document's ids. One that cannot be taken is set aside, or raises InputError."""
        try:
            taken.add(coming, closed)
        except InputError as error:
            if self._set_aside is None:
                raise
            self._set_aside(coming.document, str(error))
            return False
        return True

    def _reached(self, before: Manifest) -> Checkpoint:
        """Where the load begins: at nothing, or at the checkpoint of one that was cut off."""
        last = checkpoint.read(self._folder) if self._resume else None
        if last is None:
            checkpoint.remove(self._folder)
            manifest.sweep(self._folder)
            fresh = Checkpoint(
                stamp(), self._description, self._append, before.generation, migrates=self._migrates
            )
            checkpoint.write(self._folder, fresh)
            return fresh
        if (last.description, last.append, last.migrates) != (
            self._description,
            self._append,
            self._migrates,
        ):
            raise UsageError("the load that was cut off had other options: give those, or leave out --resume")
        if last.append and last.base != before.generation:
            raise UsageError("the index has changed since the load was cut off: leave out --resume")
        return last

    def _commit(self, before: Manifest, written: Checkpoint) -> None:
        if not written.segments and self._append:
            return
        kept = before.segments if self._append else ()
        segments = (*kept, *written.segments)
        layers = (*written.layers, *self._carried(before, segments))
        after = before.next(written.made, segments, self._description, layers, self._keep)
        manifest.commit(self._folder, after)

    def _carried(self, before: Manifest, segments: Sequence[str]) -> list[Run]:
        """Layers of new segments that are not of what their documents were given."""
        return []

    def _segment(self, name: str) -> Segment:
        return Segment(self._folder / SEGMENTS / name)


def begun(folder: Path, description: Description) -> Manifest:
    """The last commit. A new folder gets an empty one, so that a crash leaves an index that opens."""
    if not (folder / manifest.NAME).exists():
        manifest.commit(folder, Manifest(description))
    last = manifest.read_any(folder)
    left = checkpoint.read(folder)
    if left is not None and last.made == left.made:
        checkpoint.remove(folder)  # that load was killed after its commit
    manifest.sweep(folder)  # what a crashed writer left
    return last


@contextmanager
def taken_back(folder: Path, before: Manifest) -> Iterator[None]:
    """Leave no trace of a load that failed. One that was stopped leaves what it can be taken up from."""
    try:
        yield
    except BaseException as error:
        left = checkpoint.read(folder)
        if isinstance(error, Exception) or left is None or not left.segments:
            checkpoint.remove(folder)
            manifest.sweep(folder)
            if not before.generation:
                manifest.remove(folder)  # there was no index, and there is none
        raise
    checkpoint.remove(folder)
    manifest.sweep(folder)


def existing(where: str) -> Description | None:
    """How the index at this place was made, or None where there is none, or none with anything in it.

    Raises IndexUnusable if there is something else.
    """
    folder = Path(where)
    with disk_errors(folder):
        if not folder.exists() or (folder.is_dir() and manifest.is_bare(folder)):
            return None
    found = manifest.read_any(folder)
    return found.description if found.segments else None


def start(where: str, description: Description, options: LoadOptions, append: bool) -> FolderWriter:
    if append:
        manifest.read(Path(where))  # of this format, or there is no adding to it
    return FolderWriter(
        where,
        description,
        append=append,
        keep=options.keep,
        resume=options.resume,
        set_aside=options.set_aside,
    )


def _generation(folder: Path) -> int:
    """Which commit is there; 0 where there is none that holds anything."""
    try:
        return manifest.read_any(folder).generation
    except EsrError:
        return 0


def _wanted(done: int, old: list[Segment]) -> Callable[[Document], bool]:
    """Whether a document is to be written: it is not among the first, and its id is new."""
    number = count(1)
    return lambda document: next(number) > done and not _is_there(document.id, old)


def _is_there(document_id: str, segments: list[Segment]) -> bool:
    return any(segment.documents.find(document_id) is not None for segment in segments)


def _unchanged(where: str, document: Document, old: list[Segment]) -> bool:
    """Whether the index holds this very document. Raises InputError if it holds another of that id."""
    for segment in old:
        number = segment.documents.find(document.id)
        if number is not None:
            if segment.document(number) == document:
                return True
            raise InputError(where, changed(document.id))
    return False


def changed(document_id: str) -> str:
    return (
        f"document {document_id!r} is in the index with other content: "
        "bring it in with esr append, or load everything again with --if-exists replace"
    )
