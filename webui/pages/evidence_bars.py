"""A small bar for each result: the evidence for the sentence, by query term and kind.

The bar leaves out what lowers a score: with language models this is p(t|C), which is much the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from esr.engines.index import Hit
from esr.plans.evaluate import score_sentences
from esr.ranking.origin import Origin
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.score_parts import ScoreParts, score_parts
from webui.pages.bar_kinds import bar_kind

WIDTH = 100.0
"""The width of a bar, in units of its drawing: the evidence for the first result."""
LEFT_OUT = ("collection", "length")
SECOND = Origin("signal", "second stage")


class Segment(NamedTuple):
    """A piece of evidence and where it is drawn. `kind` is what it is drawn as."""

    kind: str
    origin: Origin
    adds: float
    x: float
    width: float


EvidenceBars = Mapping[str, Sequence[Segment]]
"""By sentence id."""


def evidence_bars(prepared: PreparedQuery, hits: Sequence[Hit]) -> EvidenceBars:
    """The bars of hits on one scale, which the first hit sets: more results do not change it."""
    plan, reranker = prepared.plan, prepared.ranking.reranker()
    if not hits or not plan.terms:
        return {}
    ids = [hit.sentence_id for hit in hits]
    columns = [static.column for static in plan.statics]
    evidence = prepared.index.evidence([term.term for term in plan.terms], ids, columns)
    weight = 1.0 if reranker is None else reranker.first_weight
    with np.errstate(invalid="ignore"):  # an infinite score times a weight of 0 is no score
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
    scale = WIDTH / (totals[0] or max(totals) or 1.0)
    return {
        hit.sentence_id: list(_segments(pieces, scale)) for hit, pieces in zip(hits, positive, strict=True)
    }


def _segments(pieces: Sequence[tuple[Origin, float]], scale: float) -> Iterator[Segment]:
    x = 0.0
    for origin, adds in pieces:
        width = min(adds * scale, WIDTH - x)
        yield Segment(bar_kind(origin), origin, adds, x, width)
        x += width
