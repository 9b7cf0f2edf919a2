"""What the terms of a collection say about its analyzer: sentences without terms, terms without worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

LONG_SENTENCE = 100
"""A sentence with more terms was probably not split."""
FREQUENT_SHARE = 1 / 3
"""A term in a greater share of all sentences costs time and ranks nothing: it could be a stop word."""
MAX_FREQUENT = 10


class TermSurvey(Struct, frozen=True):
    """Counts of sentences: all, those without a term, those with more than LONG_SENTENCE, and the most
    frequent of the terms that stand in more than FREQUENT_SHARE of them."""

    sentences: int
    without_terms: int
    long: int
    frequent_terms: Sequence[str]

    def notes(self) -> list[str]:
        """What is worth a line in a report."""
        notes = []
        if self.without_terms:
            notes.append(f"{self.without_terms:,} sentences have no term: no search finds them")
        if self.long:
            notes.append(
                f"{self.long:,} sentences have more than {LONG_SENTENCE} terms: were they split as their "
                "language needs? See docs/loading.md"
            )
        if self.frequent_terms:
            notes.append(
                f"terms in more than a third of all sentences: {', '.join(self.frequent_terms)}: "
                "does the analyzer fit the language? See esr analyzers"
            )
        return notes


class TermCounter:
    """Counts the terms of sentences one after the other, for collections that no index has."""

    def __init__(self) -> None:
        self._sentences = self._without_terms = self._long = 0
        self._frequency: Counter[str] = Counter()

    def add(self, terms: Sequence[str]) -> None:
        """Count a sentence."""
        self._sentences += 1
        self._without_terms += not terms
        self._long += len(terms) > LONG_SENTENCE
        self._frequency.update(set(terms))

    def survey(self) -> TermSurvey:
        frequent = most_frequent(self._frequency.items(), self._sentences)
        return TermSurvey(self._sentences, self._without_terms, self._long, frequent)


def most_frequent(frequencies: Iterable[tuple[str, int]], sentences: int) -> list[str]:
    """The terms in more than FREQUENT_SHARE of the sentences, most frequent first, at most MAX_FREQUENT."""
    frequent = [(term, count) for term, count in frequencies if count > FREQUENT_SHARE * sentences]
    return [term for term, _ in sorted(frequent, key=lambda each: (-each[1], each[0]))[:MAX_FREQUENT]]
