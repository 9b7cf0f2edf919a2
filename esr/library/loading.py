"""Loads documents into a new index, by an analyzer that fits the languages of the first ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice

from msgspec.structs import replace

from esr.index.factory import open_writer
from esr.index.writer import LoadOptions, LoadReport
from esr.loaders.language import LanguageDetector
from esr.loaders.pipeline import DocumentPipeline
from esr.text.analyzer import (
    MULTILINGUAL_ANALYZER,
    choose_analyzer,
    find_misfits,
    get_definition,
)
from esr.text.document import Located

AUTO = "auto"
"""The option that lets the first documents determine the analyzer."""
SAMPLE = 300
"""The number of documents that determine the analyzer."""


class SampledDocuments:
    """An iterator over documents that can read a sample in advance."""

    def __init__(self, documents: Iterator[Located]) -> None:
        self._documents = documents
        self.reason = ""
        """Why the analyzer was chosen, or an empty string before."""

    def __iter__(self) -> Iterator[Located]:
        return self._documents

    def choose_analyzer(self) -> str:
        """The name of the analyzer for the languages of the first documents, declared or else detected."""
        sample = list(islice(self._documents, SAMPLE))
        self._documents = chain(sample, self._documents)
        languages = [located.document.language for located in sample]
        if not all(languages):
            detector = LanguageDetector()
            languages = [detector.language_of(located.document) for located in sample]
        name, reason = choose_analyzer(languages)
        self.reason = f"analyzer {name}: {reason}"
        return name


def language_notes(languages: Mapping[str, int], analyzer: str) -> list[str]:
    """A line about the documents in languages that do not fit the analyzer, if there are any."""
    misfits = find_misfits(languages, get_definition(analyzer))
    if not misfits:
        return []
    parts = ", ".join(f"{code} {n:,}" for code, n in sorted(misfits.items(), key=lambda each: -each[1]))
    return [
        f"{sum(misfits.values()):,} documents are in a language that the analyzer {analyzer} is not made "
        f"for: {parts}. For several languages there is --analyzer {MULTILINGUAL_ANALYZER}"
    ]


def load_pipeline(
    pipeline: DocumentPipeline,
    where: str,
    options: LoadOptions,
    track: Callable[[Iterable[Located]], Iterable[Located]] = iter,
) -> LoadReport:
    """Load the pipeline's documents, which pass through `track`.

    Without a given analyzer, the first documents determine that of a new index.
    """
    with pipeline.open() as documents:
        sampled = SampledDocuments(documents)
        options = replace(
            options,
            analyzer=None if options.analyzer == AUTO else options.analyzer,
            choose_analyzer=sampled.choose_analyzer,
        )
        writer = open_writer(where, options)
        report = writer.load(track(sampled))
    report.notes += [
        *([sampled.reason] if sampled.reason else []),
        *pipeline.notes(),
        *(language_notes(pipeline.summary.languages, report.analyzer) if report.analyzer else []),
        *(report.terms.notes() if report.terms else []),
    ]
    return report
