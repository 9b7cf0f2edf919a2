"""Loads documents into an index folder: segments first, then one commit that shows them all."""

from __future__ import annotations

import errno
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from esr import analysis
from esr.documents import Document, Located
from esr.engines.embedded import manifest
from esr.engines.embedded.build import SegmentBuilder
from esr.engines.embedded.layer import LAYERS, Run
from esr.engines.embedded.manifest import SEGMENTS, Manifest
from esr.engines.embedded.repeats import Taken
from esr.engines.embedded.segment import Segment
from esr.engines.index import Description, LoadReport
from esr.errors import EsrError, IndexUnusable, InputError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class EmbeddedLoading:
    """A load into a folder. `append` keeps what the last commit holds, else the load replaces it.

    Memory stays that of one segment. A crash at any moment leaves the last commit.
    """

    def __init__(self, where: str | Path, description: Description, *, append: bool = False) -> None:
        self._folder = Path(where)
        self._description = description
        self._append = append
        self._generation = _generation(self._folder)

    def load(self, documents: Iterable[Located]) -> LoadReport:
        """Load all, or nothing. Raises InputError for a repeated id, EsrError when the disk is full."""
        started = time.perf_counter()
        report = LoadReport()
        with disk(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with manifest.lock(self._folder):
                before = self._before()
                if before.generation != self._generation:
                    raise EsrError(
                        f"another load into {self._folder} has ended since this one began: load again"
                    )
                kept = before.segments if self._append else ()
                try:
                    fresh, given = self._write(documents, kept, report)
                    if fresh or not self._append:
                        manifest.commit(self._folder, before.next((*kept, *fresh), self._description, given))
                except BaseException:
                    manifest.sweep(self._folder)
                    if not before.generation:
                        manifest.remove(self._folder)  # there was no index, and there is none
                    raise
                manifest.sweep(self._folder)
        report.seconds = time.perf_counter() - started
        return report

    def _before(self) -> Manifest:
        """The last commit. A new folder gets an empty one, so that a crash leaves an index that opens."""
        if not (self._folder / manifest.NAME).exists():
            manifest.commit(self._folder, Manifest(self._description))
        manifest.sweep(self._folder)  # what a crashed load left
        return manifest.read(self._folder)

    def _write(
        self, documents: Iterable[Located], kept: tuple[str, ...], report: LoadReport
    ) -> tuple[list[str], list[Run]]:
        """Write new segments and layers and return their names. Nothing refers to them yet."""
        analyzer = analysis.get(self._description.analyzer)
        old = [self._segment(name) for name in kept]
        new: dict[str, Segment] = {}
        given: list[Run] = []
        taken = Taken()
        builder = SegmentBuilder(analyzer, self._description.title)

        def flush() -> SegmentBuilder:
            name = uuid.uuid4().hex[:12]
            builder.save(self._folder / SEGMENTS / name)
            if builder.given_parts:
                builder.save_given(self._folder / LAYERS / name)
                given.append(Run(name, name, 0, len(builder), builder.given_parts, None))
            new[name] = self._segment(name)
            taken.closed()
            return SegmentBuilder(analyzer, self._description.title)

        for where, document in documents:
            report.documents += 1
            if _unchanged(where, document, old):
                report.unchanged += 1
                continue
            taken.add(where, document, [*old, *new.values()])
            builder.add(document)
            report.sentences += len(document.sentences)
            report.without_sentences += not document.sentences
            if builder.full:
                builder = flush()
        if len(builder):
            flush()
        return list(new), given

    def _segment(self, name: str) -> Segment:
        return Segment(self._folder / SEGMENTS / name)


def existing(where: str) -> Description | None:
    """How the index at this place was made, or None where there is none, or none with anything in it.

    Raises IndexUnusable if there is something else.
    """
    folder = Path(where)
    with disk(folder):
        if not folder.exists() or (folder.is_dir() and manifest.is_bare(folder)):
            return None
    found = manifest.read(folder)
    return found.description if found.segments else None


def start(where: str, description: Description, append: bool, shards: int | None) -> EmbeddedLoading:
    return EmbeddedLoading(where, description, append=append)


def _generation(folder: Path) -> int:
    """Which commit is there; 0 where there is none that holds anything."""
    try:
        return manifest.read(folder).generation
    except EsrError:
        return 0


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
        "load everything again with --if-exists replace"
    )


@contextmanager
def disk(folder: Path, verb: str = "load") -> Iterator[None]:
    """Say in plain words that the disk is full or closed to us."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise EsrError(
                f"the disk is full: {folder} keeps what it had; make room and {verb} again"
            ) from error
        raise IndexUnusable(f"cannot write to {folder}: {error.strerror or error}") from error
