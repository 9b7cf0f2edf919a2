"""The second stage: the best sentences of the first get scores that look at their dependency trees.

No query parses anything: parses were stored at loading or by `esr enrich`. Sentences below the second stage's
depth keep their order and stay below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from esr.dependency import signals
from esr.dependency.signals import Parsed
from esr.engines.index import Hit, Index
from esr.plans.evidence import Array
from esr.ranking.signal import RankingSignal

Places = npt.NDArray[np.intp]
DEPTH = 1000
_TIES = 1e-4
"""How much the first stage's order may add where it only breaks ties: less than strengths differ by."""


@dataclass(frozen=True)
class Second:
    """What the second stage computes: `first` * the first stage's score + the weighted signals.

    With `ties` the first stage's score orders what is equal otherwise.
    """

    first: float
    signals: tuple[RankingSignal, ...]
    depth: int = DEPTH
    ties: bool = False

    def scores(self, first: Array, parsed: Parsed, top: Places) -> Array:
        """New scores of the m sentences at the places `top`, of shape (m,).

        `first` has the first stage's scores of all n that were parsed, of shape (n,).
        """
        best = first[top]
        total = self.first * best
        for each in self.signals:
            found = signals.find(each.signal).scores(parsed, each.settings())
            total = total + each.weight * found[top]
        if self.ties and len(best):
            total = total + _TIES * (best - best.min()) / (float(np.ptp(best)) or 1.0)
        return total


def parsed(
    index: Index, terms: Sequence[str], ids: Sequence[str], orders: Sequence[int] | None = None
) -> Parsed:
    """The stored parses of these sentences, made ready for a query's terms."""

    def counts(places: Sequence[int]) -> Array:
        return index.evidence(list(dict.fromkeys(terms)), [ids[place] for place in places]).counts["sentence"]

    return Parsed.of(index.parses(ids, orders), terms, counts)


def reranked(index: Index, terms: Sequence[str], hits: Sequence[Hit], second: Second) -> list[Hit]:
    """Hits of the first stage, best first, in the second stage's order with its scores."""
    first = np.array([hit.score for hit in hits])
    top = np.arange(min(second.depth, len(hits)))
    best = hits[: len(top)]
    trees = parsed(index, terms, [hit.sentence_id for hit in best], [hit.order for hit in best])
    values = merged(first, top, second.scores(first[: len(top)], trees, top))
    order = np.lexsort((np.array([hit.order for hit in hits], np.int64), -values))
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
