"""The feature `quote`: the share of a sentence that is direct speech.

Double quotation marks are paired across the whole document, so the middle of a quotation of several sentences
counts. A paragraph that repeats the opening mark does not end the quotation. An opening mark without a
closing one extends to the end of its sentence. Single curly marks are paired within a sentence, because the
closing one is also an apostrophe. Straight single marks are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from esr.features.feature import Feature, FeatureInput, Values, register

# The longest distance from an opening mark, or its latest repetition, to the closing one.
MAX_SENTENCES = 10

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_MARK = re.compile(r"[“”«»\"]|``|''")
_SINGLE = re.compile(r"‘(?!\d0s)(?=\w)(?:[^‘’]|’(?=\w))*’(?!\w)")
_OPENING, _CLOSING = {"“", "«", "``"}, {"”", "»", "''"}


class Mark(NamedTuple):
    sentence: int
    start: int
    kind: str  # "open", "close", or "either" for a straight one between two spaces
    is_first: bool  # nothing precedes it in its sentence


class Span(NamedTuple):
    """From a mark to an offset in the same or a later sentence; None is the end of the sentence."""

    start: Mark
    last: int
    end: int | None


def compute(inputs: FeatureInput) -> Values:
    """The share of each sentence's words between quotation marks, for English sentences."""
    texts = [sentence.text for sentence in inputs.document.sentences]
    quoted: list[list[tuple[int, int]]] = [[m.span() for m in _SINGLE.finditer(text)] for text in texts]
    for span in _pair_marks(_find_marks(texts)):
        for number in range(span.start.sentence, span.last + 1):
            start = span.start.start if number == span.start.sentence else 0
            end = span.end if number == span.last and span.end is not None else len(texts[number])
            quoted[number].append((start, end))
    return [
        None if annotation is None else _share(text, spans)
        for text, spans, annotation in zip(texts, quoted, inputs.tagged, strict=True)
    ]


def _share(text: str, spans: Sequence[tuple[int, int]]) -> float | None:
    if not spans:
        return 0.0 if _WORD.search(text) else None
    words = [match.start() for match in _WORD.finditer(text)]
    quoted = sum(any(start <= word < end for start, end in spans) for word in words)
    return quoted / len(words) if words else None


def _find_marks(texts: Sequence[str]) -> Iterator[Mark]:
    for number, text in enumerate(texts):
        for match in _MARK.finditer(text):
            start, end = match.span()
            kind = "open" if match[0] in _OPENING else "close" if match[0] in _CLOSING else None
            yield Mark(number, start, kind or _straight_kind(text, start, end), not text[:start].strip())


def _straight_kind(text: str, start: int, end: int) -> str:
    """A straight mark opens after a space and closes before one."""
    before, after = text[start - 1 : start], text[end : end + 1]
    free_before = not before or before.isspace() or before in "([—–-"
    free_after = not after or after.isspace()
    if free_before and free_after:
        return "either"
    return "open" if free_before else "close"


def _pair_marks(marks: Iterator[Mark]) -> Iterator[Span]:
    start: Mark | None = None
    latest = 0  # the sentence of the latest opening mark
    for mark in marks:
        near = start is not None and mark.sentence - latest <= MAX_SENTENCES
        opens = mark.kind == "open" or (mark.kind == "either" and not near)
        if start is not None and opens and near and mark.is_first and mark.sentence > latest:
            latest = mark.sentence  # the next paragraph of the same speech
            continue
        if start is not None:
            closes = near and not opens
            yield Span(start, mark.sentence, mark.start) if closes else Span(start, start.sentence, None)
        start, latest = (mark, mark.sentence) if opens else (None, 0)
    if start is not None:
        yield Span(start, start.sentence, None)


register(
    Feature(
        "quote", "share of the sentence's words in quotation marks, which may span sentences", "esr", compute
    )
)
