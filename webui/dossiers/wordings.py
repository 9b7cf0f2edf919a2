"""Two wordings of a text, word by word, and a text with its highlights, as pieces for templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from esr.dossiers.records import Highlight
from esr.stdlib import compile_lazily

_WORDS = compile_lazily(r"\w+|\s+|[^\w\s]")
_MOST_CHARS = 20_000
"""Characters up to which wordings are compared; the comparison of whole books would take minutes."""


class Wording(NamedTuple):
    """A piece of two wordings: what the stored text has, and what the present one has in its place."""

    before: str
    now: str

    @property
    def is_same(self) -> bool:
        """Whether both have this piece."""
        return self.before == self.now


def align_wordings(before: str, now: str) -> list[Wording]:
    """Both wordings in pieces, which differ or are the same. Blanks alone are no piece."""
    if max(len(before), len(now)) > _MOST_CHARS:
        return [Wording(before, now)]
    old, new = _WORDS.findall(before), _WORDS.findall(now)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    pieces: list[Wording] = []
    for _, i, j, k, m in matcher.get_opcodes():
        piece = Wording("".join(old[i:j]), "".join(new[k:m]))
        if len(pieces) > 1 and not piece.is_same and pieces[-1].is_same and pieces[-1].now.isspace():
            blank, differs = pieces.pop(), pieces.pop()
            piece = Wording(*(a + b + c for a, b, c in zip(differs, blank, piece, strict=True)))
        pieces.append(piece)
    return pieces


class Piece(NamedTuple):
    """A piece of a text. `mark`: its highlight, if it has one."""

    text: str
    mark: Highlight | None = None


def split_highlights(text: str, highlights: Sequence[Highlight]) -> Iterator[Piece]:
    """The text in pieces. Of highlights that overlap, the later one begins where the earlier one ends."""
    at = 0
    for mark in sorted(highlights):
        start, end = max(mark.start, at), min(mark.end, len(text))
        if start >= end:
            continue
        if start > at:
            yield Piece(text[at:start])
        yield Piece(text[start:end], mark)
        at = end
    if at < len(text):
        yield Piece(text[at:])


def find_highlights(text: str, words: Sequence[str], present: Sequence[Highlight]) -> tuple[Highlight, ...]:
    """The highlights of these words, which are parts of the text. Those that are present keep their labels.

    Raises ValueError for words that the text does not have.
    """
    known = {text[mark.start : mark.end]: mark for mark in present}
    marks = []
    for part in filter(None, (" ".join(word.split()) for word in words)):
        if part in known:
            marks.append(known[part])
            continue
        place = re.search(re.escape(part), text) or re.search(re.escape(part), text, re.IGNORECASE)
        if place is None:
            raise ValueError(part)
        marks.append(Highlight(*place.span()))
    return tuple(marks)
