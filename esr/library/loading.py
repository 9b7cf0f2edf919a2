"""Loads documents into a new index, by an analyzer that fits the languages of a sample of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from random import Random

from msgspec.structs import replace

from esr.index.factory import open_writer
from esr.index.writer import LoadOptions, LoadReport
from esr.loaders.language import LanguageDetector, describe_uncertain
from esr.loaders.pipeline import DocumentPipeline
from esr.processes import cached_property
from esr.text.analyzer import (
    BY_LANGUAGE,
    MULTILINGUAL_ANALYZER,
    choose_analyzer,
    find_misfits,
    get_definition,
)
from esr.text.detection import abridge, detect_language
from esr.text.document import Document, Located

AUTO = "auto"
"""The option that lets a sample of the documents determine the analyzer."""
SAMPLE = 300
"""The number of documents that determine the analyzer."""
_TOLERATED = 0.1
"""The share of documents whose detected language may not fit: detection errs, and news quote."""


class SampledDocuments:
    """An iterator over documents that can read a sample in advance, and keeps one of those that it passed.

    `take_sample` gives a sample of all of them; if it gives none, the first ones are the sample.
    """

    def __init__(
        self, documents: Iterator[Located], take_sample: Callable[[int], list[Document]] = lambda number: []
    ) -> None:
        self._documents = documents
        self._take_sample = take_sample
        self.analyzer: str | None = None
        self._without_language = 0
        self._abridged: list[str] = []
        """The texts of a random sample of the documents without a language."""
        self.reason = ""
        """Why the analyzer was chosen, or an empty string before."""

    def __iter__(self) -> Iterator[Located]:
        """The documents. Of those without a language, a random sample is kept, always the same one."""
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
        """The name of the analyzer for the languages of a sample, declared or else detected."""
        documents, which = self._take_sample(SAMPLE), "sampled"
        if not documents:
            first = list(islice(self._documents, SAMPLE))
            self._documents = chain(first, self._documents)
            documents, which = [located.document for located in first], "first"
        languages = [document.language for document in documents]
        uncertain = ""
        if not all(languages):
            detector = LanguageDetector()
            languages = [detector.language_of(document) for document in documents]
            uncertain = describe_uncertain(languages)
        self.analyzer, reason = choose_analyzer(languages, which)
        self.reason = f"analyzer {self.analyzer}: {reason}{uncertain and f' ({uncertain})'}"
        return self.analyzer

    @cached_property
    def _detected(self) -> list[str | None]:
        """The language of each sampled document, detected when it is asked for: that takes half a second."""
        return [detect_language([text]) for text in self._abridged]

    def language_notes(self, declared: Mapping[str, int], analyzer: str) -> list[str]:
        """The line of `language_notes`, or one about what is detected in the sample if that tells more.

        All documents must have passed.
        """
        if notes := language_notes(declared, analyzer):
            return notes
        detected = Counter(filter(None, self._detected))
        misfits = find_misfits(detected, get_definition(analyzer))
        if sum(misfits.values()) <= _TOLERATED * len(self._detected):
            return []
        parts = ", ".join(f"{code} {n:,}" for code, n in sorted(misfits.items(), key=lambda each: -each[1]))
        return [
            f"{sum(misfits.values()):,} of {len(self._detected):,} sampled documents seem to be in a "
            f"language that the analyzer {analyzer} is not made for: {parts}. For several languages there is "
            f"--analyzer {MULTILINGUAL_ANALYZER}"
        ]


def language_notes(languages: Mapping[str, int], analyzer: str) -> list[str]:
    """A line about the documents in languages that do not fit the analyzer, if there are any."""
    if analyzer == BY_LANGUAGE and languages.get(""):
        return [
            f"{languages['']:,} documents have no language, and the analyzer {MULTILINGUAL_ANALYZER}: detect "
            "theirs with --detect-language"
        ]
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
    warn: Callable[[str], None] = lambda note: None,
) -> LoadReport:
    """Load the pipeline's documents, which pass through `track`.

    Without a given analyzer, a sample of the documents determines that of a new index. `warn` is told before
    the index is switched if it does not fit them all.
    """

    def passed() -> Iterator[Located]:
        yield from track(sampled)
        analyzer = sampled.analyzer or options.analyzer
        for note in sampled.language_notes(pipeline.summary.languages, analyzer) if analyzer else ():
            warn(note)

    with pipeline.open() as documents:
        sampled = SampledDocuments(documents, pipeline.sample)
        options = replace(
            options,
            analyzer=None if options.analyzer == AUTO else options.analyzer,
            choose_analyzer=sampled.choose_analyzer,
        )
        writer = open_writer(where, options)
        report = writer.load(passed())
    report.notes += [
        *([sampled.reason] if sampled.reason else []),
        *pipeline.notes(),
        *(sampled.language_notes(pipeline.summary.languages, report.analyzer) if report.analyzer else []),
        *(report.terms.notes() if report.terms else []),
    ]
    return report
