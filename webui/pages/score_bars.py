"""The parts of a score as bars on one scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from esr.ranking.explain import Explanation
from esr.ranking.explain_parts import Addition
from esr.ranking.origin import Origin
from webui.pages.bar_kinds import bar_kind

WIDTH = 1000
"""The width of a bar, in units of its drawing."""


class Piece(NamedTuple):
    """A piece of a bar: its kind, what it adds, and where its rectangle is."""

    kind: str
    adds: float
    x: float
    width: float


class BarRow(NamedTuple):
    """One thing that adds to the score, and the pieces of its bar."""

    kind: str
    label: str
    adds: float
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class ScoreBars:
    """Rows on one scale. `zero`: the x of nothing added; `kinds`: the kinds of pieces, for the key."""

    rows: Sequence[BarRow]
    zero: float
    kinds: Sequence[str]


def score_bars(explanation: Explanation) -> ScoreBars:
    """The parts of a score, drawn: to the right of zero what raises it, to the left what lowers it."""
    rows = _weighted_rows(explanation)
    low = min((sum(p.adds for p in _drawable(row) if p.adds < 0) for _, row in rows), default=0.0)
    high = max((sum(p.adds for p in _drawable(row) if p.adds > 0) for _, row in rows), default=0.0)
    scale = WIDTH / ((high - low) or 1.0)
    zero = -low * scale
    bars = [
        BarRow(*_heading(origin), sum(part.adds for part in row), list(_pieces(row, zero, scale)))
        for origin, row in rows
    ]
    kinds = dict.fromkeys(piece.kind for bar in bars for piece in bar.pieces)
    return ScoreBars(bars, zero, list(kinds))


def _weighted_rows(explanation: Explanation) -> list[tuple[Origin, list[Addition]]]:
    """All rows of both stages. What the first stage adds has the weight that the second gives it."""
    second = explanation.second
    weight = 1.0 if second is None else second.weight
    rows = [
        (origin, [Addition(part.origin, weight * part.adds) for part in row])
        for origin, row in (explanation.rows if weight else [])
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
            yield Piece(bar_kind(origin), adds, right, width)
            right += width
        else:
            left -= width
            yield Piece(bar_kind(origin), adds, left, width)
