"""A small bar for each result: what speaks for the sentence, by query term and kind.

The bar leaves out what takes away from a score: with language models that is p(t|C), much the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from esr.engines.index import Hit
from esr.plans.evaluate import parts, scores
from esr.plans.plan import Plan
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

WIDTH = 100.0
"""Of a bar's drawing, in its own units: what speaks for the first result."""


class Segment(NamedTuple):
    """What adds to the score. `about`: the term, prior, feature or stage."""

    kind: str
    about: str
    adds: float
    x: float
    width: float


Drawn = Mapping[str, Sequence[Segment]]
"""By sentence id."""


def evidence_bars(now: Searcher, plan: Plan, ranking: Ranking, hits: Sequence[Hit]) -> Drawn:
    """The bars of hits on one scale, which the first hit sets: more results do not change it."""
    if not hits or not plan.terms:
        return {}
    ids = [hit.sentence_id for hit in hits]
    columns = [static.column for static in plan.statics]
    evidence = now.index.evidence([term.term for term in plan.terms], ids, columns)
    split, second = parts(plan, evidence), ranking.second()
    first = 1.0 if second is None else second.first
    rest = [0.0] * len(hits)
    if second is not None:
        rest = (np.array([hit.score for hit in hits]) - first * scores(plan, evidence)).tolist()
    named = [("prior", name) for name in ranking.priors] + [("feature", f.feature) for f in ranking.features]
    named += [("boost", "boost")] * (len(plan.statics) - len(named))

    def pieces(at: int) -> Iterator[tuple[str, str, float]]:
        for row, term in enumerate(plan.terms):
            for name, adds in split.fields.items():
                yield name, term.term, first * float(adds[row, at])
        for (kind, about), part in zip(named, split.statics, strict=True):
            yield kind, about, first * float(part[at])
        yield "dependency", "dependency", float(rest[at])

    speaking = [[each for each in pieces(at) if 0 < each[2] < np.inf] for at in range(len(hits))]
    most = sum(adds for *_, adds in speaking[0]) or max(sum(a for *_, a in each) for each in speaking) or 1.0
    return {name: list(_placed(each, WIDTH / most)) for name, each in zip(ids, speaking, strict=True)}


def _placed(pieces: Sequence[tuple[str, str, float]], scale: float) -> Iterator[Segment]:
    x = 0.0
    for kind, about, adds in pieces:
        width = min(adds * scale, WIDTH - x)
        yield Segment(kind, about, adds, x, width)
        x += width
