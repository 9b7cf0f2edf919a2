"""Query words in a text, highlighted. The one place where the text of a document becomes HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from unicodedata import category

from markupsafe import Markup, escape

from esr.analysis import Analyzer

_LETTERS = re.compile(r"[^\W_]+")
_MARK = Markup("<mark>{}</mark>")
_CACHED_WORDS = 100_000
"""Words whose terms are cached: news has the same ones again and again."""


class Highlighter:
    """Escapes texts and marks the words that the index takes for a term of the query.

    The index's analyzer looks at each word, so words with the same stem are marked too.
    """

    def __init__(self, analyzer: Analyzer, terms: Iterable[str]) -> None:
        self._analyzer = analyzer
        self._terms = frozenset(terms)
        self._matches: dict[str, bool] = {}

    def __call__(self, text: str) -> Markup:
        """The text as HTML: each piece is escaped by itself, then the marks are put around words."""
        pieces: list[Markup] = []
        done = 0
        for start, end in word_ranges(text):
            if self.matches(text[start:end]):
                pieces += escape(text[done:start]), _MARK.format(text[start:end])
                done = end
        return Markup("").join([*pieces, escape(text[done:])])

    def matches(self, word: str) -> bool:
        """Whether the word has a term of the query."""
        matches = self._matches.get(word)
        if matches is None:
            terms = _terms(self._analyzer, word)
            matches = self._matches[word] = not self._terms.isdisjoint(terms)
        return matches


@lru_cache(_CACHED_WORDS)
def _terms(analyzer: Analyzer, word: str) -> tuple[str, ...]:
    return tuple(analyzer.terms(word))


def word_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Where words begin and end: letters and digits, and the accents that follow them."""
    for match in _LETTERS.finditer(text):
        end = match.end()
        while end < len(text) and not text[end].isascii() and category(text[end])[0] == "M":
            end += 1
        yield match.start(), end
