"""Loads documents into a new index: rows and files of a program as a pipeline, and the choice of an analyzer.

The analyzer `auto` is chosen by the languages of a sample of the documents.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from esr.arguments.argument import Argument
from esr.arguments.tables.loading import DELIVERY, SOURCE
from esr.arguments.types import Pairs, UsualLimits
from esr.errors import EsrError, UsageError
from esr.index.factory import describe_index, has_copies, has_table, is_elasticsearch, open_writer
from esr.index.filters import Texts
from esr.index.questions import Summary
from esr.index.writer import DeliveryReport, LoadOptions, LoadReport
from esr.loaders.adapter import LanguageDetector, describe_uncertain
from esr.loaders.pipeline import DocumentPipeline, format_counts, open_pipeline
from esr.stdlib import cached_property, import_lazily
from esr.text.analyzer_definitions import (
    BY_LANGUAGE,
    MULTILINGUAL_ANALYZER,
    ONE_LANGUAGE,
    choose_analyzer,
    find_misfits,
    get_definition,
)
from esr.text.document import Document, Located
from esr.text.languages import abridge, detect_language
from esr.wording import count

if TYPE_CHECKING:
    from esr.index.runs import reuse_run, table_run
    from esr.ranking import searcher
else:
    searcher = import_lazily("esr.ranking.searcher")
    reuse_run = import_lazily("esr.index.runs.reuse_run")
    table_run = import_lazily("esr.index.runs.table_run")


def read_read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a pipeline for options for reading, as the command line would give them."""
    values = {name: _read_option(row, options.get(name)) for name, row in _READING.items()}
    values["mapping"] = [f"{field}={column}" for field, column in values["mapping"].items()]
    values["set"] = [
        f"{name}={text}" for name, texts in values["set"].items() for text in _texts(f"set {name}", texts)
    ]
    for name in ("include", "exclude"):
        values[name] = _texts(name, values[name])
    if values["columns"] is not None:
        values["columns"] = ",".join(_texts("columns", values["columns"]))
    values["base"] = values["base"] and fspath(values["base"])
    values["bad_documents"] = values["bad_documents"] and Path(values["bad_documents"])
    return {_READING[name].sets: value for name, value in values.items()}


_READING = {row.name: row for row in (*SOURCE, *DELIVERY)}


def _read_option(row: Argument, value: Any) -> Any:
    """The value of an option, or its default."""
    if value is not None:
        return value
    if row.is_repeatable:
        return {} if isinstance(row.type, Pairs) else ()
    return row.type.default(UsualLimits)


class Files(list[str]):
    """Paths of files and folders, to be read instead of rows."""


def open_source(rows: Iterable[object] | str | PathLike[str], options: Mapping[str, Any]) -> DocumentPipeline:
    """The pipeline of rows, of the path of a file or folder, or of `Files`."""
    read_options = read_read_options(options)
    if isinstance(rows, Files):
        return open_pipeline(rows, **read_options)
    if isinstance(rows, str | PathLike):
        return open_pipeline([fspath(rows)], **read_options)
    return open_pipeline((), rows=rows, **read_options)


def _texts(name: str, value: Texts) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{name} is a text or several, not {value!r}")
    return texts


# A new index

AUTO = "auto"
"""The value of the option by which a sample of the documents determines the analyzer."""
SAMPLE = 300
"""The number of documents that determine the analyzer."""
_TOLERATED = 0.1
"""The tolerated share of documents whose detected language does not fit: detection makes errors."""


class SampledDocuments:
    """An iterator over documents that can read a sample in advance, and samples those it has yielded.

    `take_sample` returns a sample of all documents; if it returns none, the first ones are the sample.
    """

    def __init__(
        self, documents: Iterator[Located], take_sample: Callable[[int], list[Document]] = lambda number: []
    ) -> None:
        self._documents = documents
        self._take_sample = take_sample
        self.analyzer: str | None = None
        self._without_language = 0
        self._abridged: list[str] = []
        """Beginnings of texts of a random sample of the documents without a language."""
        self.reason: str = ""
        """The reason for the choice of the analyzer; empty before the choice."""

    def __iter__(self) -> Iterator[Located]:
        """The documents. Keeps a reproducible random sample of those without a language."""
        random = Random(0)
        for located in self._documents:
            if not located.document.language:
                place = len(self._abridged)
                if place == SAMPLE:
                    place = random.randrange(self._without_language + 1)
                if place < SAMPLE:
                    text = abridge(sentence.text for sentence in located.document.sentences)
                    self._abridged[place : place + 1] = [text]
                self._without_language += 1
            yield located

    def choose_analyzer(self) -> str:
        """The name of the analyzer for the declared, or else detected, languages of a sample.

        Several languages have an analyzer each if nine tenths of the documents declare their language: it is
        not detected for the index, unless the user asks for it.
        """
        documents, extent = self._take_sample(SAMPLE), "sampled"
        if not documents:
            first = list(islice(self._documents, SAMPLE))
            self._documents = chain(first, self._documents)
            documents, extent = [located.document for located in first], "first"
        languages = [document.language for document in documents]
        declare = sum(map(bool, languages)) >= ONE_LANGUAGE * len(languages)
        several = BY_LANGUAGE if declare else MULTILINGUAL_ANALYZER
        uncertain = ""
        if not all(languages):
            detector = LanguageDetector()
            languages = [detector.choose_language(document) for document in documents]
            uncertain = describe_uncertain(languages)
        self.analyzer, reason = choose_analyzer(languages, extent, several)
        self.reason = f"analyzer {self.analyzer}: {reason}{uncertain and f' ({uncertain})'}"
        if self.analyzer == MULTILINGUAL_ANALYZER and not declare and len({*filter(None, languages)}) > 1:
            self.reason += ". With --detect-language each language would have its own analyzer"
        return self.analyzer

    @cached_property
    def _detected(self) -> list[str | None]:
        """The language of each sampled document, detected at first use, which takes half a second."""
        return [detect_language([text]) for text in self._abridged]

    def language_notes(self, declared: Mapping[str, int], analyzer: str) -> list[str]:
        """The line of `language_notes`, or one about detected languages of the sample if they say more.

        All documents must have been yielded.
        """
        if notes := language_notes(declared, analyzer):
            return notes
        detected = Counter(filter(None, self._detected))
        misfits = find_misfits(detected, get_definition(analyzer))
        if sum(misfits.values()) <= _TOLERATED * len(self._detected):
            return []
        return [
            f"{sum(misfits.values()):,} of {len(self._detected):,} sampled documents seem to be in a "
            f"language that the analyzer {analyzer} is not made for: {format_counts(misfits)}. "
            f"For several languages there is --analyzer {BY_LANGUAGE}"
        ]


def language_notes(languages: Mapping[str, int], analyzer: str) -> list[str]:
    """A line about the documents in languages that do not fit the analyzer; empty without any."""
    if analyzer == BY_LANGUAGE and languages.get(""):
        return [
            f"{count(languages[''], 'document', 'have')} no language, and the analyzer "
            f"{MULTILINGUAL_ANALYZER}: detect theirs with --detect-language"
        ]
    misfits = find_misfits(languages, get_definition(analyzer))
    if not misfits:
        return []
    return [
        f"{count(sum(misfits.values()), 'document', 'are')} in a language that the analyzer {analyzer} is "
        f"not made for: {format_counts(misfits)}. "
        f"For several languages there is --analyzer {BY_LANGUAGE}"
    ]


def deliver_pipeline(
    pipeline: DocumentPipeline,
    where: str,
    deliver: Callable[[Iterable[Located]], DeliveryReport],
    encodes: bool = True,
) -> DeliveryReport:
    """Pass the pipeline's documents to `deliver`, the step of a delivery to an index. Returns its report.

    If it `encodes`, new sentences then get vectors by the index's table, if it has one. Languages are not
    reported if no document was added, since detection would take longer than a small correction, or if the
    index no longer answers.
    """
    started = time.perf_counter()
    with pipeline.open() as documents:
        sampled = SampledDocuments(documents)
        report = deliver(sampled)
    if encodes and (report.added or report.changed):
        report.notes += [*encode_new(where), *compare_new(where)]
    report.seconds = time.perf_counter() - started
    report.notes += pipeline.notes()
    if report.added:
        with suppress(EsrError):
            if description := describe_index(where):
                report.notes += sampled.language_notes(pipeline.summary.languages, description.analyzer)
    return report


def encode_new(where: str) -> list[str]:
    """Encode the documents without a vector by the table of an index, if it has one. Returns notes for users.

    The documents are loaded already, so a failure is a note.
    """
    try:
        if has_table(where):
            with searcher.open_searcher(where) as opened:
                table_run.encode_by_table(opened.index)
    except EsrError as error:
        return [f"new sentences have no vectors yet: {error}"]
    return []


MOST_READ = 100_000
"""Sentences of an index on a server with which new ones are compared at the end of a delivery."""


def compare_new(where: str) -> list[str]:
    """Find the copies of new sentences, if copies were looked for in an index. Returns notes for users.

    On a server all texts must be read, so those of a large index are left to `esr enrich`.
    """
    try:
        if has_copies(where):
            with searcher.open_searcher(where) as opened:
                if is_elasticsearch(where) and opened.index.status(Summary())["sentences"] > MOST_READ:
                    return ["groups of copies are not up to date: run esr enrich --only reuse"]
                reuse_run.run_reuse(opened.index)
    except EsrError as error:
        return [f"new sentences have not been compared with others yet: {error}"]
    return []


def choose_first_again(where: str) -> list[str]:
    """Let the copies of removed sentences have a new first appearance. Returns notes for users.

    In a folder the first one is found when a snapshot is read.
    """
    return compare_new(where) if is_elasticsearch(where) else []


def load_pipeline(
    pipeline: DocumentPipeline,
    where: str,
    options: LoadOptions,
    track: Callable[[Iterable[Located]], Iterable[Located]] = iter,
    warn: Callable[[str], None] = lambda note: None,
    encodes: bool = True,
) -> LoadReport:
    """Load the pipeline's documents, which pass through `track`.

    If it `encodes`, new sentences then get vectors by the index's table, if it has one.

    Without a given analyzer, a sample of the documents determines that of a new index. If it does not fit all
    of them, `warn` is called before the index is switched.
    """

    def passed() -> Iterator[Located]:
        yield from track(sampled)
        analyzer = sampled.analyzer or options.analyzer
        for note in sampled.language_notes(pipeline.summary.languages, analyzer) if analyzer else ():
            warn(note)

    started = time.perf_counter()  # the writer begins only when the first documents have been read
    with pipeline.open() as documents:
        sampled = SampledDocuments(documents, pipeline.sample)
        options = replace(
            options,
            analyzer=None if options.analyzer == AUTO else options.analyzer,
            choose_analyzer=sampled.choose_analyzer,
        )
        writer = open_writer(where, options)
        report = writer.load(passed())
    if options.slice is None:
        report.notes += [*(encode_new(where) if encodes else ()), *compare_new(where)]
    report.seconds = time.perf_counter() - started
    report.notes += [
        *([sampled.reason] if sampled.reason else []),
        *pipeline.notes(),
        *(sampled.language_notes(pipeline.summary.languages, report.analyzer) if report.analyzer else []),
        *(report.terms.notes() if report.terms else []),
    ]
    return report
