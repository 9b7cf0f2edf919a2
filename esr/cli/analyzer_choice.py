"""`--analyzer auto`: the analyzer that fits the first documents, and warnings where it does not fit the
others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice

from esr.analysis import choice, definitions
from esr.documents import Located
from esr.loaders.language import LanguageDetector

AUTO = "auto"
SAMPLE = 300
"""How many documents are looked at."""


class SampledDocuments:
    """Documents, the first of which can be looked at before they are read."""

    def __init__(self, documents: Iterator[Located]) -> None:
        self._documents = documents
        self.reason = ""
        """Why the analyzer was chosen; empty if none was."""

    def __iter__(self) -> Iterator[Located]:
        return self._documents

    def choose_analyzer(self) -> str:
        """The name of the analyzer for the languages that the first documents declare, or are found to be
        in."""
        sample = list(islice(self._documents, SAMPLE))
        self._documents = chain(sample, self._documents)
        languages = [located.document.language for located in sample]
        if not all(languages):
            detector = LanguageDetector()
            languages = [detector.language_of(located.document) for located in sample]
        name, reason = choice.choose(languages)
        self.reason = f"analyzer {name}: {reason}"
        return name


def language_notes(languages: Mapping[str, int], analyzer: str) -> list[str]:
    """A line about the documents in languages that the analyzer is not made for."""
    misfits = choice.misfits(languages, definitions.get(analyzer))
    if not misfits:
        return []
    parts = ", ".join(f"{code} {n:,}" for code, n in sorted(misfits.items(), key=lambda each: -each[1]))
    return [
        f"{sum(misfits.values()):,} documents are in a language that the analyzer {analyzer} is not made "
        f"for: {parts}. For several languages there is --analyzer {definitions.MULTILINGUAL}"
    ]
