"""Pictures of scores: the parts of an explained score, and its dependency tree.

The kinds of pieces in bars are classes of the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from esr.dependency.explanation import svg_tree
from esr.ranking.explanation.explanation import Explanation
from esr.ranking.explanation.parts import Addition
from esr.ranking.ranking import Origin
from esr.ranking.second_stage.meaning_signal import NAME
from webui.answers import explanations


def _bar_kind(origin: Origin) -> str:
    """The kind of piece that draws a part. Fields and meaning have their own, other signals share one."""
    if origin.kind == "field" or (origin.kind == "signal" and origin.name == NAME):
        return origin.name
    return "dependency" if origin.kind in ("signal", "trees") else origin.kind


SCORE_BAR_WIDTH = 1000
"""The width of the scale, in units of the drawing."""


class Piece(NamedTuple):
    """A piece of a bar: its kind, what it adds, and its position."""

    kind: str
    adds: float
    x: float
    width: float


class BarRow(NamedTuple):
    """A part of the score and the pieces of its bar."""

    kind: str
    label: str
    adds: float
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class ScoreBars:
    """Rows on one scale. `zero`: the x of 0; `kinds`: the kinds of pieces, for the key."""

    rows: Sequence[BarRow]
    zero: float
    kinds: Sequence[str]


def score_bars(explanation: Explanation) -> ScoreBars:
    """The parts of a score as bars: right of zero if they raise it, left if they lower it."""
    rows = _weighted_rows(explanation)
    low = min((sum(p.adds for p in _drawable(row) if p.adds < 0) for _, row in rows), default=0.0)
    high = max((sum(p.adds for p in _drawable(row) if p.adds > 0) for _, row in rows), default=0.0)
    scale = SCORE_BAR_WIDTH / ((high - low) or 1.0)
    zero = -low * scale
    bars = [
        BarRow(*_heading(origin), sum(part.adds for part in row), list(_pieces(row, zero, scale)))
        for origin, row in rows
    ]
    kinds = dict.fromkeys(piece.kind for bar in bars for piece in bar.pieces)
    return ScoreBars(bars, zero, list(kinds))


def _weighted_rows(explanation: Explanation) -> list[tuple[Origin, list[Addition]]]:
    """The rows of both stages. Those of the first are multiplied by its weight in the second.

    A feature that adds nothing is left out: the page lowers furniture, which few sentences are.
    """
    second = explanation.second
    weight = 1.0 if second is None else second.weight
    rows = [
        (origin, [Addition(part.origin, weight * part.adds) for part in row])
        for origin, row in (explanation.rows if weight else [])
        if origin.kind != "feature" or any(part.adds for part in row)
    ]
    return rows + [(part.origin, [part]) for part in (second.additions if second else [])]


def _heading(origin: Origin) -> tuple[str, str]:
    """The kind and the label of a row."""
    kind = "signal" if origin.kind == "trees" else origin.kind
    return kind, f"{origin.name} {origin.detail}".rstrip()


def _drawable(row: Iterable[Addition]) -> list[Addition]:
    return [part for part in row if part.adds and math.isfinite(part.adds)]


def _pieces(row: Iterable[Addition], zero: float, scale: float) -> Iterable[Piece]:
    right, left = zero, zero
    for origin, adds in _drawable(row):
        width = abs(adds) * scale
        if adds > 0:
            yield Piece(_bar_kind(origin), adds, right, width)
            right += width
        else:
            left -= width
            yield Piece(_bar_kind(origin), adds, left, width)


def tree_picture(explained: explanations.ExplainedSentence) -> Markup | None:
    """The tree with the paths between the words that scored, or between all query words if none did.

    None without a tree.
    """
    tree, second = explained.tree, explained.explanation.second
    if tree is None or not tree.words:
        return None
    scored_words = second.chosen if second else tree.marked
    return Markup(svg_tree(tree.words, tree.marked, scored_words, standalone=False))  # nosec B704  # it escapes the words
