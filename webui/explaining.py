"""A score's parts as bars on one scale, and the tree of the sentence where its words are known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from esr.dependency.svg_tree import svg_tree
from esr.engines.index import SentenceRecord
from esr.errors import UsageError
from esr.ranking.explain import Explanation, explain
from esr.ranking.searcher import Searcher
from webui import arguments
from webui.arguments import NotThere, Search
from webui.marking import Marker, words
from webui.settings import Settings
from webui.terms import check_terms

WIDTH = 1000
"""Of a bar's drawing, in its own units."""


class Piece(NamedTuple):
    """A part of a row: what it is, what it adds, and where its rectangle stands."""

    kind: str
    adds: float
    x: float
    width: float


class Row(NamedTuple):
    """One thing that adds to the score, and its pieces."""

    kind: str
    label: str
    adds: float
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Bars:
    """Rows on one scale. `zero`: where nothing is added; `kinds`: the kinds of pieces, for the key."""

    rows: Sequence[Row]
    zero: float
    kinds: Sequence[str]


def explained(
    searcher: Searcher, asked: Search, sentence_id: str, limits: Settings
) -> tuple[Explanation, SentenceRecord]:
    """The parts of a sentence's score, and the sentence. Raises NotThere for an unknown one."""
    check_terms(searcher, asked.query, limits)
    try:
        (record,) = searcher.index.sentences([sentence_id])
    except UsageError as error:
        raise NotThere(f"there is no sentence {sentence_id!r}", "id") from error
    with arguments.blaming(None):
        return explain(searcher, asked.query, sentence_id, asked.ranking), record


def bars(found: Explanation) -> Bars:
    """The parts of a score, drawn: what takes away goes to the left of zero, what adds to the right."""
    given: list[tuple[str, str, list[tuple[str, float]]]] = []
    for term in found.terms:
        fields: list[tuple[str, float]] = [(name, part.adds) for name, part in term.fields.items()]
        given.append(("term", term.term, [*fields, ("collection", term.background)]))
    if found.length:
        given.append(("length", "length", [("length", found.length)]))
    given += [("prior", p.name, [("prior", p.adds)]) for p in found.priors]
    given += [("feature", f"{p.feature} {p.form}", [("feature", p.adds)]) for p in found.features]
    low = min((sum(a for _, a in _finite(pieces) if a < 0) for *_, pieces in given), default=0.0)
    high = max((sum(a for _, a in _finite(pieces) if a > 0) for *_, pieces in given), default=0.0)
    scale = WIDTH / ((high - low) or 1.0)
    rows = [
        Row(kind, label, sum(adds for _, adds in pieces), list(_placed(pieces, -low * scale, scale)))
        for kind, label, pieces in given
    ]
    kinds = dict.fromkeys(piece.kind for row in rows for piece in row.pieces)
    return Bars(rows, -low * scale, list(kinds))


def tree(searcher: Searcher, record: SentenceRecord, mark: Marker) -> Markup | None:
    """The picture of the sentence's parse; None where no words are stored with it."""
    sentence = searcher.index.document(record.document_id).sentences[record.position]
    if not sentence.parse:
        return None
    marked = {
        place
        for place, word in enumerate(sentence.parse)
        if any(mark.matches(word.word[start:end]) for start, end in words(word.word))
    }
    return Markup(svg_tree(sentence.parse, marked, alone=False))  # its words are escaped there


def _finite(pieces: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return [(kind, adds) for kind, adds in pieces if adds and math.isfinite(adds)]


def _placed(pieces: Iterable[tuple[str, float]], zero: float, scale: float) -> Iterable[Piece]:
    right, left = zero, zero
    for kind, adds in _finite(pieces):
        width = abs(adds) * scale
        if adds > 0:
            yield Piece(kind, adds, right, width)
            right += width
        else:
            left -= width
            yield Piece(kind, adds, left, width)
