"""Query words in a text, highlighted. The one place where the text of a document becomes HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from markupsafe import Markup, escape

from esr.analysis import Analyzer, TermToken
from esr.analysis.spans import Span, find_spans

_CHUNK = re.compile("[^ ]+")
"""No word has a space in it, so the chunks between spaces can be analysed one by one, and cached."""
_MARK = Markup("<mark>{}</mark>")
_CACHED_CHUNKS = 100_000
_MAX_CACHED_CHARACTERS = 40
"""News has the same words again and again; longer chunks are clauses of a script without spaces."""


class Highlighter:
    """Escapes texts and marks the words that the index takes for a term of the query.

    The index's analyzer looks at each word, so words with the same stem are marked too.
    """

    def __init__(self, analyzer: Analyzer, terms: Iterable[str]) -> None:
        self._analyzer = analyzer
        self._terms = frozenset(terms)
        self._spans: dict[str, Sequence[Span]] = {}

    def __call__(self, text: str) -> Markup:
        """The text as HTML: each piece is escaped by itself, then the marks are put around words."""
        pieces: list[Markup] = []
        done = 0
        for chunk in _CHUNK.finditer(text):
            for start, end in self._find(chunk[0]):
                start, end = chunk.start() + start, chunk.start() + end
                pieces += escape(text[done:start]), _MARK.format(text[start:end])
                done = end
        return Markup("").join([*pieces, escape(text[done:])])

    def _find(self, chunk: str) -> Sequence[Span]:
        """Where in a chunk the words with a term of the query stand."""
        spans = self._spans.get(chunk)
        if spans is None:
            tokens = _cached_tokens if len(chunk) <= _MAX_CACHED_CHARACTERS else Analyzer.tokens
            spans = self._spans[chunk] = find_spans(chunk, tokens(self._analyzer, chunk), self._terms)
        return spans


@lru_cache(_CACHED_CHUNKS)
def _cached_tokens(analyzer: Analyzer, chunk: str) -> Sequence[TermToken]:
    return tuple(analyzer.tokens(chunk))
