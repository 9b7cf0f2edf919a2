"""Query words in a text, marked. The one place where text of a document becomes HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from unicodedata import category

from markupsafe import Markup, escape

from esr.analysis import Analyzer

_LETTERS = re.compile(r"[^\W_]+")
_MARK = Markup("<mark>{}</mark>")


_REMEMBERED = 100_000
"""Words whose terms are remembered: news has the same ones again and again."""


class Marker:
    """Escapes texts and marks the words that the index takes for a term of the query.

    Words are compared as the index's analyzer sees them, one by one, so that stems match too.
    """

    def __init__(self, analyzer: Analyzer, terms: Iterable[str]) -> None:
        self._analyzer = analyzer
        self._terms = frozenset(terms)
        self._known: dict[str, bool] = {}

    def __call__(self, text: str) -> Markup:
        """The text as HTML: every piece is escaped by itself, then the marks are put around."""
        pieces: list[Markup] = []
        done = 0
        for start, end in words(text):
            if self.matches(text[start:end]):
                pieces += escape(text[done:start]), _MARK.format(text[start:end])
                done = end
        return Markup("").join([*pieces, escape(text[done:])])

    def matches(self, word: str) -> bool:
        """Whether the word is one of the query's, or holds one."""
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = not self._terms.isdisjoint(_terms(self._analyzer, word))
        return known


@lru_cache(_REMEMBERED)
def _terms(analyzer: Analyzer, word: str) -> tuple[str, ...]:
    return tuple(analyzer.terms(word))


def words(text: str) -> Iterator[tuple[int, int]]:
    """Where words begin and end: letters and digits, and the accents that follow them."""
    for match in _LETTERS.finditer(text):
        end = match.end()
        while end < len(text) and not text[end].isascii() and category(text[end])[0] == "M":
            end += 1
        yield match.start(), end
