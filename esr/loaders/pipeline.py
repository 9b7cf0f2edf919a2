"""The pipeline from source files to documents for an index, with a summary for the report.

It reads the sources, detects languages, handles duplicates, and collects or rejects malformed documents. A
delivery with too many empty documents is refused as a whole.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

from msgspec.structs import replace

from esr.errors import EsrError, InputError, UsageError, to_one_line
from esr.loaders.adapter import LanguageDetector, describe_uncertain
from esr.loaders.confined_process import hold_process
from esr.loaders.document_ids import DuplicateFilter, SameIdFilter
from esr.loaders.encoding import check_encoding
from esr.loaders.fields import look_into_objects, parse_constants, parse_mapping, read_paragraphs
from esr.loaders.files import FileFilter, FoundFile, Limits, is_hidden
from esr.loaders.format import Malformed, Remark, Skipped, UnknownFiles, get
from esr.loaders.ir_datasets import is_dataset
from esr.loaders.reader import AUTO, ReadOptions, find_files, read_documents, read_file, read_rows
from esr.loaders.table import parse_layout
from esr.text.analyzer_definitions import primary_language
from esr.text.dates import parse_date_end, parse_date_start
from esr.text.document import Document, Located
from esr.text.validate import to_fields
from esr.wording import count


class Callbacks(NamedTuple):
    """Callbacks for everything that a source yields in addition to documents.

    Without `on_malformed`, a malformed document is an error.
    """

    on_malformed: Callable[[Malformed], None] | None
    on_skipped: Callable[[Skipped], None]
    on_remark: Callable[[Remark], None]
    on_unknown_files: Callable[[UnknownFiles], None]


class Source:
    """Paths to read, or the rows of a program, with the options for reading them."""

    def __init__(
        self,
        paths: Sequence[str],
        *,
        source_format: str,
        detect_language: bool,
        rows: Any = None,
        **read_options: Any,
    ) -> None:
        """`read_options` are those of `build_read_options`; `rows` are for `read_rows`. Raises UsageError."""
        if source_format != AUTO:
            get(source_format)
        self.paths = paths
        self._rows = rows
        self._format = source_format
        self._options = build_read_options(read_options)
        self._detector = LanguageDetector() if detect_language else None
        if self._detector:
            self._options = replace(self._options, build=self._detector.build_document)

    @property
    def detected(self) -> Counter[str] | None:
        """The numbers of documents whose language was detected, or None without detection."""
        return self._detector.detected if self._detector else None

    def holds(self, file: Path) -> bool:
        """Whether the file would be read if it existed."""
        target = os.path.realpath(file)
        return any(self._holds(path, os.path.relpath(target, os.path.realpath(path))) for path in self.paths)

    def _holds(self, path: str, below: str) -> bool:
        if below == os.curdir:
            return True
        # Paths outside of the folder begin with "..", which counts as hidden.
        is_visible = os.path.isdir(path) and not any(map(is_hidden, below.split(os.sep)))
        return is_visible and self._options.files.accepts(below.replace(os.sep, "/"))

    def read(self, callbacks: Callbacks) -> Iterator[Located]:
        """All documents. Raises InputError."""
        options = replace(self._options, **callbacks._asdict())
        if self._rows is not None:
            return read_rows(self._rows, options)
        return read_documents(self.paths, self._format, options)

    def find_files(self) -> Iterator[FoundFile]:
        """The files. Raises InputError."""
        return find_files(self.paths, self._options)

    def find_again(self) -> Iterator[FoundFile]:
        """The files that can be read twice, without pipes and folders that cannot be read."""
        if self._rows is None and not any(map(is_dataset, self.paths)):
            with suppress(EsrError):
                yield from (file for file in self.find_files() if os.path.isfile(file.path))

    def sample_file(self, file: FoundFile, number: int) -> list[Document]:
        """At most `number` of the first documents of a file, fewer after an error. They are not counted."""
        ignore = Callbacks(*(lambda result: None for _ in Callbacks._fields))
        detected = self.detected
        known = Counter(detected)
        documents: list[Document] = []
        with suppress(EsrError), closing(self.read_file(file, ignore)) as located:  # type: ignore[type-var]
            documents += (item.document for item in islice(located, number))
        if detected is not None:
            detected.clear()
            detected.update(known)
        return documents

    def read_file(self, file: FoundFile, callbacks: Callbacks) -> Iterator[Located]:
        """The documents of one of the files. Raises InputError."""
        return read_file(file, self._format, replace(self._options, **callbacks._asdict()))


def build_read_options(options: Mapping[str, Any]) -> ReadOptions:
    """The loaders' options for the values of SOURCE_OPTIONS. Raises UsageError."""
    mapping = parse_mapping(options["pairs"])
    if options["make_id"] and "id" in mapping:
        raise UsageError(f"--id {options['make_id']} makes the ids: leave --mapping id={mapping['id']} out")
    return ReadOptions(
        mapping=mapping,
        limits=Limits(options["max_expansion"], int(options["max_unpacked"] * 2**30)),
        base=options["base"],
        table=parse_layout(options["delimiter"], options["quote"], options["columns"]),
        day_first=options["day_first"],
        encoding=None if options["encoding"] is None else check_encoding(options["encoding"]),
        make_id=options["make_id"],
        is_strict=options["strict"],
        files=FileFilter(options["include"], options["exclude"]),
        constants=parse_constants(options["constants"]),
    )


# Summary


_COUNTED = ("title", "date", "source", "language", "authors", "section", "keywords")
"""Fields whose documents are counted."""
_MAX_SHOWN = 5
_MAX_KEYS, _MAX_NAME_CHARS = 30, 60
_MIN_TEXT_CHARS = 40
"""Minimum characters of a value that looks like the text of an article."""
MAX_SOURCES = 10_000
"""Maximum number of distinct sources, and of metadata keys, to count. Other sources are counted together."""


class SourceSummary:
    """Counts, languages, dates and sources of the documents that were read, in bounded memory."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = dict.fromkeys(
            ("documents", "sentences", "without_sentences", *_COUNTED), 0
        )
        self.languages: Counter[str] = Counter()
        """Numbers of documents by language, declared or detected."""
        self._metadata: Counter[str] = Counter()
        """Numbers of documents by key of their metadata."""
        self._sources: Counter[str] = Counter()
        self._other_sources = 0
        self._text_like: Counter[str] = Counter()
        self._unknown_files: Counter[str] = Counter()
        self._first: tuple[int, str] | None = None
        self._last: tuple[int, str] | None = None

    def add(self, document: Document) -> None:
        counts = self.counts
        counts["documents"] += 1
        counts["sentences"] += len(document.sentences)
        counts["without_sentences"] += not document.sentences
        for name in _COUNTED:
            counts[name] += bool(getattr(document, name))
        for key in document.metadata:
            if key in self._metadata or len(self._metadata) < MAX_SOURCES:
                self._metadata[key] += 1
        if not document.sentences and document.metadata:
            self._add_text_like(document.metadata)
        self.languages[primary_language(document.language)] += 1
        if document.source is not None:
            self._add_source(document.source)
        if document.date is not None:
            self._add_date(document.date)

    def add_unknown_files(self, files: UnknownFiles) -> None:
        """Count files that no loader reads."""
        self._unknown_files[files.ending] += files.number

    def text_like_columns(self) -> list[str]:
        """Columns of documents without text that look like text, the most frequent first."""
        return [name for name, _ in self._text_like.most_common(_MAX_SHOWN)]

    def _add_text_like(self, metadata: Mapping[str, Any]) -> None:
        for name, value in look_into_objects(metadata).items():
            text = value if isinstance(value, str) else read_paragraphs(value)
            if text and _looks_like_text(text) and len(self._text_like) < MAX_SOURCES:
                self._text_like[name] += 1

    def _add_source(self, source: str) -> None:
        if source in self._sources or len(self._sources) < MAX_SOURCES:
            self._sources[source] += 1
        else:
            self._other_sources += 1

    def _add_date(self, date: str) -> None:
        start, end = (parse_date_start(date), date), (parse_date_end(date), date)
        self._first = min(self._first or start, start)
        self._last = max(self._last or end, end)

    def lines(self) -> list[str]:
        """The summary as lines of text, without fields that no document has; empty without documents."""
        counts = self.counts
        if not counts["documents"]:
            return []
        lines = [
            f"{counts['title']:,} have a title, {counts['date']:,} a date, {counts['source']:,} a source, "
            f"{counts['language']:,} a language"
        ]
        if counts["authors"] or counts["section"] or counts["keywords"]:
            lines.append(
                f"{counts['authors']:,} have authors, {counts['section']:,} a section, "
                f"{counts['keywords']:,} keywords"
            )
        if counts["language"]:
            names = {code or "unknown": n for code, n in self.languages.items()}
            lines.append(f"languages: {format_counts(names)}")
        if self._first and self._last:
            lines.append(f"dates: {_to_day(self._first[1])} to {_to_day(self._last[1])}")
        if self._sources:
            lines.append(f"sources: {format_counts(self._sources, self._other_sources)}")
        if self._metadata:
            lines.append(f"kept as metadata, as no fields: {_list_keys(self._metadata)}")
        return lines

    @property
    def unknown_files(self) -> dict[str, int]:
        """Numbers of files that no loader reads, by extension; "" for names without one."""
        return dict(self._unknown_files.most_common())

    def as_dict(self) -> dict[str, Any]:
        """The summary for JSON.

        It has the counts, `languages` ("" is unknown), `dates` (`from` and `to`), `sources`, `metadata`
        (numbers of documents by key) and `unknown_files` (by extension, "" for none). `other_sources` is the
        number of documents from sources beyond the first 10,000.
        """
        return {
            **self.counts,
            "languages": dict(self.languages.most_common()),
            "dates": {"from": self._first[1], "to": self._last[1]} if self._first and self._last else None,
            "sources": dict(self._sources.most_common()),
            "other_sources": self._other_sources,
            "metadata": dict(self._metadata.most_common()),
            "unknown_files": self.unknown_files,
        }


def describe_unknown_files(counts: Mapping[str, int]) -> str:
    """Describe the files that no loader reads, by extension, as a sentence without a full stop."""
    endings = {ending or "without an ending": n for ending, n in counts.items()}
    total, parts = sum(counts.values()), format_counts(endings)
    return f"{count(total, 'file', 'are')} in no format that is read, and left out: {parts}"


def _looks_like_text(text: str) -> bool:
    """Whether the value is long enough, has several words or non-ASCII letters, and is no address."""
    return len(text) >= _MIN_TEXT_CHARS and (len(text.split()) > 4 or not text.isascii())


def _list_keys(counts: Counter[str]) -> str:
    """The most frequent keys of metadata with their counts, on a few lines."""
    shown = [f"{_shorten(key)} {n:,}" for key, n in counts.most_common(_MAX_KEYS)]
    others = len(counts) - len(shown)
    return ", ".join([*shown, *([f"and {others:,} other keys"] if others else [])])


def format_counts(counts: Mapping[str, int], others: int = 0) -> str:
    """The most frequent names with their counts, and the sum of the others, in a short line."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    others += sum(n for _, n in ranked[_MAX_SHOWN:])
    shown = [f"{_shorten(name)} {n:,}" for name, n in ranked[:_MAX_SHOWN]]
    return ", ".join([*shown, *([f"others {others:,}"] if others else [])])


def _shorten(name: str) -> str:
    return " ".join(name[:_MAX_NAME_CHARS].split())


def _to_day(date: str) -> str:
    return date.replace(" ", "T").partition("T")[0]


# Pipeline


_SAMPLED_FILES = 100
MAX_EXAMPLES = 3
MAX_PROBLEMS = 20


ReadDocuments = Callable[[Callbacks], Iterator[Located]]


class TooManyEmpty(InputError):
    """More documents than allowed have no sentence. Nothing of the delivery is loaded."""


class DocumentPipeline:
    """Reads the documents of its sources, and collects notes and problems for the report."""

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
        """Set up the pipeline without reading anything.

        `allow_empty_documents` is the percentage of documents that may have no sentence. `read` yields the
        documents, by default those of all sources in order. `on_refused` is called with the id of each
        document that was read but is not loaded. A dry run does not write the file of bad documents. Raises
        UsageError or EsrError if that file must not be written.
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
        self.tolerates_malformed: bool = bad_documents is not None
        self._malformed_file = None if is_dry_run else bad_documents
        self._malformed_stream: IO[str] | None = None
        self.malformed: list[Malformed] = []  # the first MAX_PROBLEMS
        self.malformed_count: int = 0
        self._skipped = _Occurrences()
        self._remarks = _Occurrences()
        self.summary: SourceSummary = SourceSummary()
        self._first_without_sentences: list[Located] = []
        self._first_unknown_file = ""

    @contextmanager
    def open(self, collect_all: bool = False) -> Iterator[Iterator[Located]]:
        """Open the documents for reading.

        A malformed document raises InputError, unless it goes to a file or `collect_all` is set. TooManyEmpty
        is raised after the last document if too many have no sentence.
        """
        with hold_process(), _open_for_writing(self._malformed_file) as self._malformed_stream:
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

    def sample(self, number: int) -> list[Document]:
        """About `number` documents from files spread over the sources; empty for a single file.

        Files that cannot be read are left out; the load itself reports them.
        """
        files = [(source, file) for source in self._sources for file in source.find_again()]
        chosen = files[:: math.ceil(len(files) / _SAMPLED_FILES)] if len(files) > 1 else []
        documents: list[Document] = []
        for source, file in chosen:
            documents += source.sample_file(file, math.ceil(number / len(chosen)))
        return documents

    def reject(self, document: Document, problem: str) -> None:
        """Record a document that the index rejected.

        Its location is unknown, so the file of bad documents gets its text.
        """
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
        """Raise TooManyEmpty if too many documents have no sentence, so that no index loses its text."""
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
            f"{empty:,} of {count(documents, 'document', 'have')} no sentence: {advice}, or allow it with "
            f"--allow-empty-documents {math.ceil(100 * empty / documents)}%",
        )

    def _add_unknown_files(self, files: UnknownFiles) -> None:
        self.summary.add_unknown_files(files)
        self._first_unknown_file = self._first_unknown_file or files.where

    def notes(self) -> list[str]:
        """The report's lines about these documents."""
        notes = [*self._same_ids.notes()] if self._same_ids else []
        notes += self._duplicates.notes() if self._duplicates else []
        if without_sentences := self.summary.counts["without_sentences"]:
            more = ", …" if without_sentences > len(self._first_without_sentences) else ""
            examples = ", ".join(f"{d.id} at {where}" for where, d in self._first_without_sentences)
            notes.append(f"{count(without_sentences, 'document', 'have')} no sentence: {examples}{more}")
        notes += self._skipped.lines()
        notes += self._remarks.lines()
        if unknown := self.summary.unknown_files:
            notes.append(
                f"{describe_unknown_files(unknown)}; the first is {self._first_unknown_file} "
                "(--exclude leaves them out without a word, --strict refuses them)"
            )
        detected = [source.detected for source in self._sources if source.detected is not None]
        if detected:
            languages = sum(detected, Counter[str]())
            uncertain = describe_uncertain(languages)
            declare = f": {uncertain}; if one is meant, declare it" if uncertain else ""
            notes.append(f"{count(languages.total(), 'document')} got the detected language{declare}")
        return notes

    def describe_malformed(self) -> str | None:
        """A line about the documents that were malformed, None if there were none."""
        if not self.malformed_count:
            return None
        first = self.malformed[0]
        listed = f" and are listed in {self._malformed_file}" if self._malformed_file else ""
        return (
            f"{self.malformed_count:,} malformed documents were not loaded{listed}; "
            f"the first: {first.where}: {first.problem}"
        )

    def raise_if_malformed(self) -> None:
        """Raise EsrError if any document was malformed."""
        if problem := self.describe_malformed():
            raise EsrError(problem)


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
    """The pipeline of one source, with the options of `Source`. Raises like `DocumentPipeline`."""
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
    folder = os.path.dirname(os.path.realpath(file))
    if not os.path.isdir(folder):
        raise EsrError(f"cannot write {file}: create the folder {os.path.dirname(file)} first")


def _raise(located: Located, problem: str) -> None:
    raise InputError(located.where, problem)


class _Occurrences:
    """Counts occurrences by their description, with the location of the first of each."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, occurrence: Skipped | Remark) -> None:
        if isinstance(occurrence, Skipped):
            event = f"documents were skipped, {occurrence.reason}"
        else:
            event = f"{occurrence.unit} {occurrence.text}"
        if event not in self._counts and len(self._counts) >= MAX_PROBLEMS:
            event = "other remarks"
        self._counts[event] += 1
        self._first.setdefault(event, occurrence.where)

    def lines(self) -> list[str]:
        return [
            f"{_inflect(n, event)}: the first at {self._first[event]}" for event, n in self._counts.items()
        ]


def _inflect(number: int, plural: str) -> str:
    """A number with words such as "documents have their date in day", in the singular for 1."""
    words = plural.split(" ", 2)
    if number != 1 or len(words) < 3:
        return f"{number:,} {plural}"
    rest = words[2].replace("their ", "its ").replace(" and keep ", " and keeps ")
    return f"{count(1, words[0].removesuffix('s'), words[1])} {rest}"


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
