"""The words of a text that have given terms: their spans, and their spelling."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple
from unicodedata import category

from esr.text.analyzer import Analyzer, TermToken

_STACKING = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0ccd\u0d4d\u1039\u17d2\u1a60"
"""Signs that join the adjacent consonants, in Indic scripts, Burmese, Khmer and Tai Tham."""


class Span(NamedTuple):
    """A piece of a text."""

    start: int
    end: int


def word_span(text: str, token: TermToken) -> Span:
    """The span of a token's word as a reader sees it.

    It includes the last period of a dotted acronym, which no term has, and the whole of a letter that an
    analyzer splits, such as its accents or a stack of consonants.
    """
    start, end, _ = token
    if not text.isascii():
        while start > 0 and text[start - 1] in _STACKING:
            start -= 2
        while end < len(text) and (text[end - 1] in _STACKING or category(text[end])[0] == "M"):
            end += 1
    is_acronym = end - start > 2 and text[end - 2] == "." and text[end - 1].isalpha()
    return Span(max(start, 0), end + 1 if is_acronym and text.startswith(".", end) else end)


def find_spans(text: str, tokens: Iterable[TermToken], terms: Container[str]) -> list[Span]:
    """The spans of words with one of these terms, in order. Consecutive bigrams share one span."""
    spans: list[Span] = []
    for token in tokens:
        if token.term not in terms:
            continue
        span = word_span(text, token)
        if spans and span.start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(span.end, spans[-1].end))
        else:
            spans.append(span)
    return spans


def words_by_term(analyzer: Analyzer, text: str) -> Mapping[str, str]:
    """The first word, as written, of each term of a text."""
    words: dict[str, str] = {}
    for token in analyzer.tokens(text):
        start, end = word_span(text, token)
        words.setdefault(token.term, text[start:end])
    return words


def words_of_terms(analyzer: Analyzer, text: str, terms: Container[str]) -> tuple[str, ...]:
    """The distinct words of a text with one of these terms, as written.

    Of overlapping bigrams, only the characters in no other term are returned, and only if they form a bigram:
    a bigram across two words is not a word.
    """
    tokens = list(analyzer.tokens(text))
    matching = [token for token in tokens if token.term in terms]
    covered = find_spans(text, tokens, {token.term for token in tokens if token.term not in terms})
    pieces = [
        Span(start, end)
        for span in find_spans(text, tokens, terms)
        for start, end in _subtract(span, covered)
        if any(start <= token.start and token.end <= end for token in matching)
    ]
    return tuple(dict.fromkeys(text[start:end] for start, end in pieces))


def _subtract(span: Span, covered: Iterable[Span]) -> Iterable[Span]:
    """The parts of a span that no other span covers."""
    start = span.start
    for other in covered:
        if start < other.start < span.end:
            yield Span(start, other.start)
        if other.start < span.end:
            start = max(start, other.end)
    if start < span.end:
        yield Span(start, span.end)
