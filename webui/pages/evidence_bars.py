"""A small bar for each result: what speaks for the sentence, by query term and kind.

The bar leaves out what takes away from a score: with language models that is p(t|C), much the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from esr.engines.index import Hit
from esr.plans.evaluate import scores
from esr.ranking.origin import Origin
from esr.ranking.score_parts import ScoreParts, score_parts
from esr.ranking.searcher import PreparedQuery
from webui.answers.explanation import piece_kind

WIDTH = 100.0
"""Of a bar's drawing, in its own units: what speaks for the first result."""


LEFT_OUT = ("collection", "length")
SECOND = Origin("signal", "second stage")


class Segment(NamedTuple):
    """What adds to the score, and where it is drawn. `kind` is what it is drawn as."""

    kind: str
    origin: Origin
    adds: float
    x: float
    width: float


Drawn = Mapping[str, Sequence[Segment]]
"""By sentence id."""


def evidence_bars(prepared: PreparedQuery, hits: Sequence[Hit]) -> Drawn:
    """The bars of hits on one scale, which the first hit sets: more results do not change it."""
    plan, second = prepared.plan, prepared.ranking.second()
    if not hits or not plan.terms:
        return {}
    ids = [hit.sentence_id for hit in hits]
    columns = [static.column for static in plan.statics]
    evidence = prepared.index.evidence([term.term for term in plan.terms], ids, columns)
    weight = 1.0 if second is None else second.first
    with np.errstate(invalid="ignore"):  # no value times a weight of 0 is no value
        parts = [
            ScoreParts(origin, weight * adds)
            for origin, adds in score_parts(prepared, evidence)
            if origin.kind not in LEFT_OUT
        ]
    if second is not None:
        first = weight * scores(plan, evidence)
        parts.append(ScoreParts(SECOND, np.array([hit.score for hit in hits]) - first))
    speaking = [
        [(part.origin, float(part.adds[at])) for part in parts if 0 < part.adds[at] < np.inf]
        for at in range(len(hits))
    ]
    totals = [sum(adds for _, adds in pieces) for pieces in speaking]
    scale = WIDTH / (totals[0] or max(totals) or 1.0)
    return {hit.sentence_id: list(_placed(pieces, scale)) for hit, pieces in zip(hits, speaking, strict=True)}


def _placed(pieces: Sequence[tuple[Origin, float]], scale: float) -> Iterator[Segment]:
    x = 0.0
    for origin, adds in pieces:
        width = min(adds * scale, WIDTH - x)
        yield Segment(piece_kind(origin), origin, adds, x, width)
        x += width
