"""From source files to documents for the index: reading, languages, duplicates, and the malformed ones."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from esr.cli.output_file import check_output
from esr.cli.source import Callbacks, Source
from esr.cli.source_summary import SourceSummary, describe_unknown_files
from esr.documents import Document, Located
from esr.documents.serialisation import to_fields
from esr.errors import EsrError, InputError, UsageError, to_one_line
from esr.loaders import Malformed, Remark, Skipped, UnknownFiles
from esr.loaders.duplicates import DuplicateFilter
from esr.loaders.same_ids import SameIdFilter

MAX_EXAMPLES = 3
MAX_PROBLEMS = 20


ReadDocuments = Callable[[Callbacks], Iterator[Located]]


class TooManyEmpty(InputError):
    """More documents have no sentence than is allowed; nothing of their delivery is loaded."""


class DocumentPipeline:
    """Reads the documents of some sources, and collects what a report says about them."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        same_id: str,
        duplicates: str,
        bad_documents: Path | None,
        allow_empty_documents: float,
        read: ReadDocuments | None = None,
        on_refused: Callable[[str], None] = lambda id: None,
        is_dry_run: bool = False,
    ) -> None:
        """`allow_empty_documents` is the percentage of documents that may have no sentence.

        `read` yields the documents; by default all of the sources, in their order.

        `on_refused` is called with the id of each document that was read and is not loaded. A dry run does
        not write the file of bad documents. Raises UsageError or EsrError if that file must not be written.
        """
        if bad_documents is not None:
            _check_bad_documents(bad_documents, sources)
        self._sources = sources
        self._read = read or self._read_sources
        self._on_refused = on_refused
        self._same_id = same_id
        self._same_ids: SameIdFilter | None = None
        self._allow_empty_documents = allow_empty_documents
        self._duplicates = DuplicateFilter(duplicates) if duplicates != "keep" else None
        self.tolerates_malformed = bad_documents is not None
        self._malformed_file = None if is_dry_run else bad_documents
        self._malformed_stream: IO[str] | None = None
        self.malformed: list[Malformed] = []  # the first ones
        self.malformed_count = 0
        self._skipped = _Occurrences()
        self._remarks = _Occurrences()
        self.summary = SourceSummary()
        self._first_without_sentences: list[Located] = []
        self._first_unknown_file = ""

    @contextmanager
    def open(self, collect_all: bool = False) -> Iterator[Iterator[Located]]:
        """The documents. A malformed one raises InputError, unless it goes to a file or all are collected.

        After the last one, TooManyEmpty is raised if too many had no sentence.
        """
        with _open_for_writing(self._malformed_file) as self._malformed_stream:
            on_malformed = self._add_malformed if self.tolerates_malformed or collect_all else None
            callbacks = Callbacks(on_malformed, self._skipped.add, self._remarks.add, self._add_unknown_files)
            documents = self._read(callbacks)
            reject = self._reject_located if on_malformed else _raise
            self._same_ids = SameIdFilter(self._same_id, reject)
            documents = self._same_ids.filter(documents)
            if self._duplicates:
                documents = self._duplicates.filter(documents)
            yield self._count(documents)

    def _read_sources(self, callbacks: Callbacks) -> Iterator[Located]:
        return chain.from_iterable([source.read(callbacks) for source in self._sources])

    def reject(self, document: Document, problem: str) -> None:
        """Record a document that the index does not accept. Its text is written too: its place is unknown."""
        self._reject_located(Located(document.id, document), problem)

    def _reject_located(self, located: Located, problem: str) -> None:
        where, document = located
        self._on_refused(document.id)
        self._add_malformed(Malformed(where, problem, document.id), {"document": to_fields(document)})

    def _add_malformed(
        self, malformed: Malformed, extra_fields: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        self.malformed_count += 1
        if len(self.malformed) < MAX_PROBLEMS:
            self.malformed.append(malformed)
        if self._malformed_stream:
            self._malformed_stream.write(json.dumps({**malformed._asdict(), **extra_fields}) + "\n")
            self._malformed_stream.flush()

    def _count(self, documents: Iterable[Located]) -> Iterator[Located]:
        for located in documents:
            self.summary.add(located.document)
            if not located.document.sentences and len(self._first_without_sentences) < MAX_EXAMPLES:
                self._first_without_sentences.append(located)
            yield located
        self._check_empty_documents()

    def _check_empty_documents(self) -> None:
        """Raises TooManyEmpty: an index without text must not replace one that has text."""
        documents, empty = (self.summary.counts[name] for name in ("documents", "without_sentences"))
        if 100 * empty <= self._allow_empty_documents * documents:
            return
        names = " or ".join(map(to_one_line, self.summary.text_like_columns()))
        advice = (
            f"if their text is in {names}, say so with --mapping text=COLUMN"
            if names
            else "check that their text is there, and which column has it (--mapping text=COLUMN)"
        )
        raise TooManyEmpty(
            self._first_without_sentences[0].where,
            f"{empty:,} of {documents:,} documents have no sentence: {advice}, or allow it with "
            f"--allow-empty-documents {math.ceil(100 * empty / documents)}%",
        )

    def _add_unknown_files(self, files: UnknownFiles) -> None:
        self.summary.add_unknown_files(files)
        self._first_unknown_file = self._first_unknown_file or files.where

    def notes(self) -> list[str]:
        """The lines of the report about these documents."""
        notes = [*self._same_ids.notes()] if self._same_ids else []
        notes += self._duplicates.notes() if self._duplicates else []
        if without_sentences := self.summary.counts["without_sentences"]:
            more = ", …" if without_sentences > len(self._first_without_sentences) else ""
            examples = ", ".join(f"{d.id} at {where}" for where, d in self._first_without_sentences)
            notes.append(f"{without_sentences:,} documents have no sentence: {examples}{more}")
        notes += self._skipped.lines()
        notes += self._remarks.lines()
        if unknown := self.summary.unknown_files:
            notes.append(
                f"{describe_unknown_files(unknown)}; the first is {self._first_unknown_file} "
                "(--exclude leaves them out without a word, --strict refuses them)"
            )
        detected = [source.detected for source in self._sources if source.detected is not None]
        if detected:
            notes.append(f"{sum(detected):,} documents got the detected language")
        return notes

    def raise_if_malformed(self) -> None:
        """Raise EsrError if any document was malformed."""
        if self.malformed_count:
            first = self.malformed[0]
            listed = f" and are listed in {self._malformed_file}" if self._malformed_file else ""
            raise EsrError(
                f"{self.malformed_count:,} malformed documents were not loaded{listed}; "
                f"the first: {first.where}: {first.problem}"
            )


def open_pipeline(
    paths: Sequence[str],
    *,
    same_id: str,
    duplicates: str,
    bad_documents: Path | None,
    allow_empty_documents: float,
    is_dry_run: bool = False,
    **source_options: Any,
) -> DocumentPipeline:
    """The pipeline of a command with `source_options`. Raises like `DocumentPipeline`."""
    source = Source(paths, **source_options)
    return DocumentPipeline(
        [source],
        same_id=same_id,
        duplicates=duplicates,
        bad_documents=bad_documents,
        allow_empty_documents=allow_empty_documents,
        is_dry_run=is_dry_run,
    )


def _check_bad_documents(file: Path, sources: Sequence[Source]) -> None:
    if any(source.holds(file) for source in sources):
        raise UsageError(f"{file} is a file to read: list the bad documents in another, outside the sources")
    check_output(file)


def _raise(located: Located, problem: str) -> None:
    raise InputError(located.where, problem)


class _Occurrences:
    """How often a thing occurred, by what it is, and where it was first."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, occurrence: Skipped | Remark) -> None:
        if isinstance(occurrence, Skipped):
            what = f"documents were skipped, {occurrence.reason}"
        else:
            what = f"{occurrence.unit} {occurrence.text}"
        if what not in self._counts and len(self._counts) >= MAX_PROBLEMS:
            what = "other remarks"
        self._counts[what] += 1
        self._first.setdefault(what, occurrence.where)

    def lines(self) -> list[str]:
        return [f"{n:,} {what}: the first at {self._first[what]}" for what, n in self._counts.items()]


@contextmanager
def _open_for_writing(file: Path | None) -> Iterator[IO[str] | None]:
    if file is None:
        yield None
        return
    try:
        stream = file.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
    with stream:
        yield stream
