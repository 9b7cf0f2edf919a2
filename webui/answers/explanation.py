"""A score's parts as bars on one scale, and the tree of the sentence where it is stored."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from esr.dependency.explain import Relation, TermSet
from esr.dependency.svg_tree import svg_tree
from esr.engines.index import SentenceRecord
from esr.errors import UsageError
from esr.ranking.explain import Explanation, explain
from esr.ranking.origin import Origin
from esr.ranking.searcher import Searcher
from esr.ranking.sentence_tree import SentenceTree, sentence_tree
from webui.arguments.query_check import check_terms
from webui.arguments.search_request import NotThere, Search, blaming
from webui.running.settings import Settings

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


@dataclass(frozen=True)
class Told:
    """All that is told about a sentence's score. `picture` is the tree, None where there is none to draw.

    `words`: of the query, by their terms.
    """

    record: SentenceRecord
    found: Explanation
    bars: Bars
    tree: SentenceTree | None
    picture: Markup | None
    words: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        tree = None if self.tree is None else self.tree.as_dict()
        return self.found.as_dict() | {"text": self.record.text, "tree": tree}


def tell(searcher: Searcher, asked: Search, sentence_id: str, limits: Settings) -> Told:
    """Raises NotThere for an unknown sentence, BadArgument for a bad query."""
    now = searcher.snapshot()
    check_terms(now, asked.query, limits)
    try:
        (record,) = now.index.sentences([sentence_id])
    except UsageError as error:
        raise NotThere(f"there is no sentence {sentence_id!r}", "id") from error
    with blaming(None):
        found = explain(now.prepare(asked.query, asked.ranking), sentence_id)
    tree = sentence_tree(now.index, list(now.terms(asked.query)), sentence_id)
    return Told(record, found, bars(found), tree, _picture(found, tree), written(now, asked.query))


def written(searcher: Searcher, query: str) -> Mapping[str, str]:
    """The query's words by their terms, as they were typed first."""
    words = dict.fromkeys(re.findall(r"\w+", query))
    return {term: word for word in reversed(words) for term in searcher.index.analyzer.terms(word)}


def bars(found: Explanation) -> Bars:
    """The parts of a score, drawn: what takes away goes to the left of zero, what adds to the right."""
    given = _weighted_rows(found)
    low = min((sum(a for _, a in _finite(pieces) if a < 0) for *_, pieces in given), default=0.0)
    high = max((sum(a for _, a in _finite(pieces) if a > 0) for *_, pieces in given), default=0.0)
    scale = WIDTH / ((high - low) or 1.0)
    rows = [
        Row(kind, label, sum(adds for _, adds in pieces), list(_placed(pieces, -low * scale, scale)))
        for kind, label, pieces in given
    ]
    kinds = dict.fromkeys(piece.kind for row in rows for piece in row.pieces)
    return Bars(rows, -low * scale, list(kinds))


def relation(part: TermSet | Relation) -> str:
    """A set of query terms that scored, in a few words."""
    kind = "" if isinstance(part, TermSet) else f"{part.potential}: "
    apart = "alone" if len(part.terms) == 1 else f"{part.distance:g} apart"
    height = "" if isinstance(part, TermSet) else f", height {part.height:g}"
    return f"{kind}{' + '.join(part.terms)}, {apart}{height}"


def _weighted_rows(found: Explanation) -> list[tuple[str, str, list[tuple[str, float]]]]:
    """Kind, label and pieces of each row. What the first stage adds is weighted as the second stage does."""
    weight = 1.0 if found.second is None else found.second.weight
    rows = [
        (*_heading(origin), [(piece_kind(part.origin), weight * part.adds) for part in additions])
        for origin, additions in (found.rows if weight else [])
    ]
    second = found.second.additions if found.second else []
    return rows + [(*_heading(origin), [(piece_kind(origin), adds)]) for origin, adds in second]


def _heading(origin: Origin) -> tuple[str, str]:
    """The kind and the label of a row."""
    kind = "signal" if origin.kind == "trees" else origin.kind
    return kind, f"{origin.name} {origin.detail}".rstrip()


def piece_kind(origin: Origin) -> str:
    """What a piece is called in the key and drawn as: fields by their names, the second stage as one."""
    if origin.kind == "field":
        return origin.name
    return "dependency" if origin.kind in ("signal", "trees") else origin.kind


def _picture(found: Explanation, tree: SentenceTree | None) -> Markup | None:
    """With the ways between the words that scored; where no dependency scored, between all query words."""
    if tree is None or not tree.words:
        return None
    chosen = found.second.chosen if found.second else tree.marked
    return Markup(svg_tree(tree.words, tree.marked, chosen, alone=False))  # its words are escaped there


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
