"""The second stage: the best sentences of the first get scores from further signals.

No query parses anything: parses were stored at loading or by `esr enrich`. Sentences below the second stage's
depth keep their order and stay below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from esr.engines.index import Hit
from esr.plans.evidence import Array
from esr.ranking.signal import RankingSignal
from esr.ranking.trees import Trees
from esr.ranking.view import View

Places = npt.NDArray[np.intp]
DEPTH = 1000
_TIES = 1e-4
"""How much the first stage's order may add where it only breaks ties: less than strengths differ by."""


@dataclass(frozen=True)
class Second:
    """What the second stage computes: `first` * the first stage's score + the weighted signals + the trees.

    With `ties` the first stage's score orders what is equal otherwise.
    """

    first: float
    signals: tuple[RankingSignal, ...]
    depth: int = DEPTH
    ties: bool = False
    trees: Trees | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The stored numbers of sentences that the signals look at."""
        every = (*self.signals, *(self.trees.inputs if self.trees else ()))
        return tuple(dict.fromkeys(each.kind.column for each in every if each.kind.column))

    def scores(self, first: Array, view: View, top: Places) -> Array:
        """New scores of the m sentences at the places `top`, of shape (m,).

        `first` has the first stage's scores of all n of the view, of shape (n,).
        """
        best = first[top]
        total = self.first * best
        for each in self.signals:
            total = total + each.adds(view)[top]
        if self.trees:
            total = total + self.trees.adds(view, top)
        if self.ties and len(best):
            total = total + _TIES * (best - best.min()) / (float(np.ptp(best)) or 1.0)
        return total


def reranked(hits: Sequence[Hit], view: View, second: Second) -> list[Hit]:
    """Hits of the first stage, best first, in the second stage's order with its scores.

    `view` is of the best `depth` of them.
    """
    first = np.array([hit.score for hit in hits])
    top = np.arange(min(second.depth, len(hits)))
    values = merged(first, top, second.scores(first[: len(top)], view, top))
    order = np.lexsort((np.array([hit.ordinal for hit in hits], np.int64), -values))
    return [hits[n]._replace(score=float(values[n])) for n in order.tolist()]


def merged(first: Array, top: Places, new: Array) -> Array:
    """Scores of all sentences, of shape (n,): new ones at the places `top`, the others in order below."""
    values = np.array(first)
    rest = np.ones(len(values), bool)
    rest[top] = False
    rest &= np.isfinite(values)
    if len(new) and rest.any():
        values[rest] += float(new.min()) - 1.0 - float(values[rest].max())
    values[top] = new
    return values
