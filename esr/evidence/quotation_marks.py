"""Finds the quotations of a text by their marks."""

from __future__ import annotations

import re

from esr.evidence.alignment import read_words
from esr.plugin import Document, Sentence
from esr.plugin.provisional import JoinedText, pair_marks

_SINGLE = re.compile(
    r"(?<![\w’'])['‘’‚‹›](?=\w)[^'‘’‚‹›\n]{0,300}(?:['’](?=\w)[^'‘’‚‹›\n]{0,300}){0,8}['’‘‹›](?!\w)"
)


def find_quotations(text: str) -> list[tuple[int, int]]:
    """The characters of each quotation of a text, without its marks.

    Single marks count if there are no others. Quotations without a word are left out.
    """
    joined = JoinedText(_as_document(text))
    spans = [(pieces[0][0], pieces[-1][1]) for pieces in pair_marks(joined)]
    if not spans:
        spans = [match.span() for match in _SINGLE.finditer(text)]
    stripped = (_strip_marks(text, *span) for span in spans)
    return [(start, end) for start, end in stripped if read_words(text[start:end])]


def _as_document(text: str) -> Document:
    """The text as a document whose sentences are its lines, so that characters keep their places."""
    lines = text.split("\n")
    return Document("", tuple(Sentence(str(n), line, paragraph=n) for n, line in enumerate(lines)))


_MARKS = "\"“”„«»‹›‘’‚'`「」『』＂ \n\t"


def _strip_marks(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    start += len(part) - len(part.lstrip(_MARKS))
    return start, start + len(part.strip(_MARKS))
