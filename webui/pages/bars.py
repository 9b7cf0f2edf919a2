"""Pictures of scores: evidence bars of results, the parts of an explained score, and its dependency tree.

The kinds of pieces in bars are classes of the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from esr.dependency.drawing import svg_tree
from esr.dependency.explanation import Relation, TermSet
from esr.index.hits import Hit
from esr.plans.evaluate import score_sentences
from esr.ranking.explain import Addition, Explanation, ScoreParts, score_parts
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Origin
from esr.ranking.signals import NAME
from webui.answers.explanations import ExplainedSentence

SECOND_STAGE = "dependency"


def bar_kind(origin: Origin) -> str:
    """The kind a part is drawn as. Fields and meaning have their own; other second-stage parts share one."""
    if origin.kind == "field" or (origin.kind == "signal" and origin.name == NAME):
        return origin.name
    return SECOND_STAGE if origin.kind in ("signal", "trees") else origin.kind


# Bars of results

EVIDENCE_BAR_WIDTH = 100.0
"""The width of the first result's bar, and the maximum, in units of the drawing."""
LEFT_OUT = ("collection", "length")
SECOND = Origin("signal", "second stage")


class Segment(NamedTuple):
    """A piece of evidence, the kind that it is drawn as, and where it is drawn."""

    kind: str
    origin: Origin
    adds: float
    x: float
    width: float


EvidenceBars = Mapping[str, Sequence[Segment]]
"""Bars by sentence id."""


def evidence_bars(prepared: PreparedQuery, hits: Sequence[Hit]) -> EvidenceBars:
    """The evidence for each hit, by query term and kind. The first hit sets the scale.

    The scale thus stays the same for more hits. Parts that lower scores are left out: with language models,
    this is p(t|C), which is much the same for all hits.
    """
    plan, reranker = prepared.plan, prepared.ranking.reranker()
    if not hits or not plan.terms:
        return {}
    ids = [hit.sentence_id for hit in hits]
    columns = [static.column for static in plan.static_scores]
    evidence = prepared.index.evidence([term.term for term in plan.terms], ids, columns)
    weight = 1.0 if reranker is None else reranker.first_weight
    with np.errstate(invalid="ignore"):  # infinity times a weight of 0 is NaN
        parts = [
            ScoreParts(origin, weight * adds)
            for origin, adds in score_parts(prepared, evidence)
            if origin.kind not in LEFT_OUT
        ]
    if reranker is not None:
        first = weight * score_sentences(plan, evidence)
        parts.append(ScoreParts(SECOND, np.array([hit.score for hit in hits]) - first))
    positive = [
        [(part.origin, float(part.adds[n])) for part in parts if 0 < part.adds[n] < np.inf]
        for n in range(len(hits))
    ]
    totals = [sum(adds for _, adds in pieces) for pieces in positive]
    scale = EVIDENCE_BAR_WIDTH / (totals[0] or max(totals) or 1.0)
    return {
        hit.sentence_id: list(_segments(pieces, scale)) for hit, pieces in zip(hits, positive, strict=True)
    }


def _segments(pieces: Sequence[tuple[Origin, float]], scale: float) -> Iterator[Segment]:
    x = 0.0
    for origin, adds in pieces:
        width = min(adds * scale, EVIDENCE_BAR_WIDTH - x)
        yield Segment(bar_kind(origin), origin, adds, x, width)
        x += width


# Parts of an explained score

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
    """The parts of a score as bars. Those that raise it are right of zero, those that lower it left."""
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
    """The rows of both stages. Those of the first are multiplied by its weight in the second."""
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


def tree_picture(explained: ExplainedSentence) -> Markup | None:
    """The tree with the paths between the words that scored, or between all query words if none did.

    None if there is no tree to draw.
    """
    tree, second = explained.tree, explained.explanation.second
    if tree is None or not tree.words:
        return None
    scored_words = second.chosen if second else tree.marked
    return Markup(svg_tree(tree.words, tree.marked, scored_words, standalone=False))  # escapes the words


def describe_term_set(part: TermSet | Relation) -> str:
    """A set of query terms that scored, in a few words."""
    kind = "" if isinstance(part, TermSet) else f"{part.potential}: "
    distance = "alone" if len(part.terms) == 1 else f"{part.distance:g} apart"
    height = "" if isinstance(part, TermSet) else f", height {part.height:g}"
    return f"{kind}{' + '.join(part.terms)}, {distance}{height}"
