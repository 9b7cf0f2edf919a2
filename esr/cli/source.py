"""One source: where documents come from, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from esr.cli.read_options import build_read_options
from esr.documents import Located
from esr.loaders import (
    AUTO,
    FoundFile,
    Malformed,
    Remark,
    Skipped,
    UnknownFiles,
    find_files,
    get,
    read_documents,
    read_file,
)
from esr.loaders.language import LanguageDetector
from esr.loaders.paths import is_hidden


class Callbacks(NamedTuple):
    """Called with what a source yields beside documents. Without the first, a malformed one is an error."""

    on_malformed: Callable[[Malformed], None] | None
    on_skipped: Callable[[Skipped], None]
    on_remark: Callable[[Remark], None]
    on_unknown_files: Callable[[UnknownFiles], None]


class Source:
    """Some paths with the options of `source_options.SOURCE_OPTIONS`."""

    def __init__(
        self, paths: Sequence[str], *, source_format: str, detect_language: bool, **read_options: Any
    ) -> None:
        """`read_options` are those of `build_read_options`. Raises UsageError."""
        if source_format != AUTO:
            get(source_format)
        self.paths = paths
        self._format = source_format
        self._options = build_read_options(read_options)
        self._detector = LanguageDetector() if detect_language else None
        if self._detector:
            self._options = replace(self._options, build=self._detector.build_document)

    @property
    def detected(self) -> int | None:
        """How many documents got a detected language; None if that was not asked for."""
        return self._detector.detected if self._detector else None

    def holds(self, file: Path) -> bool:
        """Whether this is one of the files to read, or would be if it existed."""
        target = os.path.realpath(file)
        return any(self._holds(path, os.path.relpath(target, os.path.realpath(path))) for path in self.paths)

    def _holds(self, path: str, below: str) -> bool:
        if below == os.curdir:
            return True
        # What is outside of the folder begins with "..", as if hidden.
        is_visible = os.path.isdir(path) and not any(map(is_hidden, below.split(os.sep)))
        return is_visible and self._options.files.accepts(below.replace(os.sep, "/"))

    def read(self, callbacks: Callbacks) -> Iterator[Located]:
        """All documents. Raises InputError."""
        return read_documents(self.paths, self._format, replace(self._options, **callbacks._asdict()))

    def find_files(self) -> Iterator[FoundFile]:
        """The files. Raises InputError."""
        return find_files(self.paths, self._options)

    def read_file(self, file: FoundFile, callbacks: Callbacks) -> Iterator[Located]:
        """The documents of one of the files. Raises InputError."""
        return read_file(file, self._format, replace(self._options, **callbacks._asdict()))
