"""A survey of the terms of a collection, by which a load checks its choice of an analyzer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from esr.wording import count

LONG_SENTENCE = 100
"""A sentence with more terms was probably split wrongly."""
FREQUENT_SHARE = 1 / 3
"""A term in a greater share of sentences costs time and hardly affects ranking: it may be a stop word."""
MAX_FREQUENT = 10
_FEW_SENTENCES = 5
"""Minimum number of sentences for frequent terms: in fewer, most terms are in a third of the sentences."""


class TermSurvey(Struct, frozen=True):
    """Numbers of all sentences, of those without a term, and of those longer than LONG_SENTENCE.

    `frequent_terms` are the most frequent terms in more than FREQUENT_SHARE of the sentences.
    """

    sentences: int
    without_terms: int
    long: int
    frequent_terms: Sequence[str]

    def notes(self) -> list[str]:
        """Remarks for a report."""
        notes = []
        if self.without_terms:
            notes.append(f"{count(self.without_terms, 'sentence', 'have')} no term: no words find them")
        if self.long:
            notes.append(
                f"{count(self.long, 'sentence', 'have')} more than {LONG_SENTENCE} terms: were they split as "
                "their language needs? See docs/sentences.md"
            )
        if self.frequent_terms and self.sentences >= _FEW_SENTENCES:
            notes.append(
                f"terms in more than a third of all sentences: {', '.join(self.frequent_terms)}: "
                "does the analyzer fit the language? See esr analyzers"
            )
        return notes


class TermCounter:
    """Counts the terms of sentences, one at a time, for collections that are not indexed."""

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
    frequent = [(term, n) for term, n in frequencies if n > FREQUENT_SHARE * sentences]
    return [term for term, _ in sorted(frequent, key=lambda pair: (-pair[1], pair[0]))[:MAX_FREQUENT]]
