"""Two wordings of a text, word by word, and a text with its highlights, as pieces for templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from esr.dossiers.records import Highlight
from esr.stdlib import compile_lazily

_WORDS = compile_lazily(r"\s*(?:\w+|[^\w\s])|\s+")
_SENTENCES = compile_lazily(r"[^.!?。\n]*(?:[.!?。\n]+\s*|\Z)")
_MOST_CHARS = 20_000
"""Characters up to which wordings are compared; the comparison of whole books would take minutes."""
_MOST_PAIRS = 40_000
"""Pairs of equal words up to which texts are compared word by word; others are compared by sentence first."""


class Wording(NamedTuple):
    """A piece of two wordings: what the stored text has, and what the present one has in its place."""

    before: str
    now: str

    @property
    def is_same(self) -> bool:
        """Whether both have this piece."""
        return self.before == self.now


def align_wordings(before: str, now: str) -> list[Wording]:
    """Both wordings in pieces, which differ or are the same.

    Of long texts, sentences are compared first, and then the words of those that differ, unless they are too
    many.
    """
    if max(len(before), len(now)) > _MOST_CHARS:
        return [Wording(before, now)]
    if (pieces := _align_words(before, now)) is not None:
        return pieces
    return [
        piece
        for part in _align_tokens(_SENTENCES.findall(before), _SENTENCES.findall(now))
        for piece in ([part] if part.is_same else _align_words(*part) or [part])
    ]


def _align_words(before: str, now: str) -> list[Wording] | None:
    """The wordings word by word; None if it would take too long."""
    old, new = _WORDS.findall(before), _WORDS.findall(now)
    if _count_pairs(old, new) > _MOST_PAIRS:
        return None
    return [part for piece in _align_tokens(old, new) for part in _split_blank(piece)]


def _align_tokens(old: list[str], new: list[str]) -> Iterator[Wording]:
    for _, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield Wording("".join(old[i:j]), "".join(new[k:m]))


def _count_pairs(old: list[str], new: list[str]) -> int:
    """How many pairs of equal tokens there are, which is what a comparison takes time for."""
    counts = Counter(new)
    return sum(n * counts[token] for token, n in Counter(old).items())


def _split_blank(piece: Wording) -> Iterator[Wording]:
    """The blank with which both wordings of a difference begin, if it is the same, and the difference."""
    before, now = (text[: len(text) - len(text.lstrip())] for text in piece)
    if before != now or not now or piece.is_same:
        yield piece
        return
    yield Wording(before, now)
    yield Wording(piece.before.removeprefix(before), piece.now.removeprefix(now))


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
