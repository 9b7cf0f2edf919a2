"""The second stage: rescores the best sentences of the first stage with further signals.

No parsing is done at search time: parses are stored by the load or by `esr enrich`. Sentences below the
second stage's depth keep their order and stay below the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from esr.index.hits import Hit, LazyHits
from esr.plans.evaluate import Array
from esr.ranking.second_stage.cross_encoder_signal import CROSS, cross_scores
from esr.ranking.second_stage.meaning_signal import context_shares
from esr.ranking.second_stage.regression_trees import TreeEnsemble
from esr.ranking.second_stage.rerank_context import RerankContext, VectorWeights
from esr.ranking.second_stage.signals import Positions, RankingSignal
from esr.text.sentence_enrichment import PARSE

DEPTH = 1000
_TIE_RANGE = 1e-4
"""The most that a tie-breaking first-stage score adds: less than the gaps between strengths."""


class Candidates(Struct, frozen=True):
    """The sentences that the second stage reranks, and those that stay below them.

    `hits` has the best by words, best first, then those that only vectors found, then the rest by words. The
    first `by_words` hits are of the first kind, and the first `reranked` of the first two kinds. `total`
    counts all candidates.
    """

    hits: LazyHits
    by_words: int
    reranked: int
    total: int

    @property
    def top(self) -> LazyHits:
        """The sentences that are reranked."""
        return self.hits.head(self.reranked)


class Reranker(Struct, frozen=True):
    """Computes `first_weight` * the first-stage score + the weighted signals + the trees.

    With `breaks_ties`, the first-stage score also orders sentences that are otherwise equal. `last`, if any,
    is a signal that then reorders the best sentences by this sum.
    """

    first_weight: float
    signals: tuple[RankingSignal, ...]
    depth: int = DEPTH
    breaks_ties: bool = False
    trees: TreeEnsemble | None = None
    last: RankingSignal | None = None

    @property
    def last_depth(self) -> int:
        """The number of sentences that the last signal is computed for."""
        return 0 if self.last is None else int(self.last.settings()["depth"])

    @property
    def columns(self) -> tuple[str, ...]:
        """The stored numbers of sentences that the signals use."""
        return tuple(dict.fromkeys(signal.type.column for signal in self.inputs if signal.type.column))

    @property
    def inputs(self) -> tuple[RankingSignal, ...]:
        """The signals that are added or that the trees use, without the last one."""
        return (*self.signals, *(self.trees.inputs if self.trees else ()))

    @property
    def uses_vectors(self) -> bool:
        return any(signal.type.uses_vectors for signal in self.inputs)

    @property
    def vector_weights(self) -> VectorWeights:
        """The weights of the vector that finds the nearest sentences."""
        return next(VectorWeights.of(s.settings()) for s in self.inputs if s.type.uses_vectors)

    @property
    def vector_contexts(self) -> tuple[str, ...]:
        """What is compared with that vector beside the sentences: their neighbours, their documents."""
        return next(tuple(context_shares(s.settings())) for s in self.inputs if s.type.uses_vectors)

    def count_without_vector(self, context: RerankContext) -> int | None:
        """The number of sentences without a vector, None if no signal needs one."""
        needed = [signal for signal in self.inputs if signal.type.uses_vectors]
        counts = (int(np.isnan(signal.values(context)).sum()) for signal in needed)
        return max(counts, default=None)

    def count_without_parse(self, context: RerankContext) -> int | None:
        """The number of sentences without a parse, None if no signal needs one."""
        if not any(signal.type.needs == PARSE for signal in self.inputs):
            return None
        return int(np.count_nonzero(~context.parses().has_parse))

    def scores(
        self, first: Array, context: RerankContext, top: Positions, by_words: Positions | None = None
    ) -> Array:
        """The new scores of the sentences at positions `top`, of shape (m,).

        `first` has the first-stage scores of all sentences of the context, of shape (n,). `by_words` are the
        positions of sentences found by words, if not all of `top`.
        """
        first_top = first[top]
        total = self.first_weight * first_top
        for signal in self.signals:
            total = total + signal.adds(context, top, by_words)
        if self.trees:
            total = total + self.trees.adds(context, top)
        if self.breaks_ties and len(first_top):
            total = total + _TIE_RANGE * (first_top - first_top.min()) / (float(np.ptp(first_top)) or 1.0)
        return total


def rerank(
    candidates: Candidates, context: RerankContext, reranker: Reranker, k: int | None = None
) -> list[Hit]:
    """Return the best k candidates, or all, in the second stage's order and with its scores.

    `context` is that of the candidates that are reranked.
    """
    columns, top = candidates.hits, np.arange(candidates.reranked)
    new = reranker.scores(candidates.top.scores, context, top, top[: candidates.by_words])
    scores = merge_scores(columns.scores, top, new)
    order = np.lexsort((columns.ordinals, -scores))[:k]
    return columns.rescored(order, scores[order])


class LastHits(NamedTuple):
    """Hits after the last signal, and the number of hits that it had no time to read."""

    hits: list[Hit]
    unread: int


def rerank_last(hits: list[Hit], signal: RankingSignal, query: str, texts: Sequence[str]) -> LastHits:
    """Add the last signal to the best hits, whose texts are given. The others stay below in order."""
    settings = signal.settings()
    model = signal.signal.removeprefix(CROSS).strip()
    values = cross_scores(model, query, texts, float(settings["seconds"]))
    read = np.flatnonzero(np.isfinite(values))
    first = np.array([hit.score for hit in hits])
    scores = merge_scores(first, read, first[read] + signal.weight * values[read])
    order = np.lexsort((np.array([hit.ordinal for hit in hits]), -scores))
    return LastHits([hits[n]._replace(score=float(scores[n])) for n in order], len(texts) - len(read))


def merge_scores(first: Array, top: Positions, new: Array) -> Array:
    """The scores of all sentences, of shape (n,): `new` at positions `top`, the others below in order."""
    scores = np.array(first)
    rest = np.ones(len(scores), bool)
    rest[top] = False
    rest &= np.isfinite(scores)
    if len(new) and rest.any():
        scores[rest] += float(new.min()) - 1.0 - float(scores[rest].max())
    scores[top] = new
    return scores
