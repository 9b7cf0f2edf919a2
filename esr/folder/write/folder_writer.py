"""Loads documents into an index folder: segments are written first, then one commit makes them visible."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from esr.errors import EsrError
from esr.folder.format import manifest
from esr.folder.format.files import translate_disk_errors
from esr.folder.format.manifest import SEGMENTS, Checkpoint, LayerInfo, Manifest, hold_writer_lock, is_bare
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import describe_known_content, find_known_content, survey_terms
from esr.folder.write.session import LoadSession, clean_up_load, open_tables, recover, start_or_resume
from esr.index.generations import DEFAULT_KEEP, new_generation_name
from esr.index.writer import Description, LoadOptions, LoadReport, SetAside
from esr.text.document import Located


class FolderWriter:
    """A load into a folder.

    With `append`, the documents of the last commit stay; otherwise they are replaced. Memory is limited to
    that of one segment. A crash at any time leaves the last commit intact, and `resume` continues from what
    the killed load has written. `keep` generations are kept besides the new one.
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
            self._folder.mkdir(parents=True, exist_ok=True)
            with hold_writer_lock(self._folder):
                before = recover(self._folder, self._description)
                if before.commit_number != self._base:
                    raise EsrError(
                        f"another load into {self._folder} has finished since this one started: load again"
                    )
                with clean_up_load(self._folder, before):
                    written = self._write(documents, before, report)
                    report.notes += self._describe_known_content(before, written)
                    self._commit(before, written)
                    report.terms = survey_terms(
                        [Segment(self._folder / SEGMENTS / name) for name in written.segments]
                    )
        report.seconds = time.perf_counter() - started
        return report

    def _write(self, documents: Iterable[Located], before: Manifest, report: LoadReport) -> Checkpoint:
        start = self._start(before)
        existing = open_tables(self._folder, before) if self._append else []
        session = LoadSession(self._folder, start, existing, self._set_aside, report)
        session.write(documents)
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
        segments = (*existing, *written.segments)
        layers = (*written.layers, *self._copy_layers(before, segments))
        name = written.generation_name
        commit = before.next_generation(name, segments, self._description, layers, self._keep)
        checksums = {**commit.checksums, **written.checksums}
        manifest.commit(self._folder, replace(commit, checksums=checksums))

    def _describe_known_content(self, before: Manifest, written: Checkpoint) -> list[str]:
        if not self._append:
            return []
        old, new = (
            [Segment(self._folder / SEGMENTS / name) for name in names]
            for names in (before.segments, written.segments)
        )
        return describe_known_content(new, find_known_content(new, old))

    def _copy_layers(self, before: Manifest, segments: Sequence[str]) -> list[LayerInfo]:
        """Copy layers that were not written with their documents. There are none, except in a migration."""
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
    with translate_disk_errors(folder):
        if not folder.exists() or (folder.is_dir() and is_bare(folder)):
            return None
    commit = manifest.read_any_format(folder)
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
