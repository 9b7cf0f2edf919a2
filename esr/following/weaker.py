"""Where a ranked list begins to have only weak hits.

A hit is weak if its sentence, its neighbours and its headline have less than STRONG_SHARE of the query's
words, by their rarity. The weak part of a list begins with the first WEAK_RUN weak hits in a row. On the
judged news (docs/collections.md), .78 of the judged hits before it are relevant, .17 of those from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from esr.following.repeats import weigh_by_rarity
from esr.index.hits import Hit
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import PreparedQuery

STRONG_SHARE = 0.7
WEAK_RUN = 3


def find_weaker(prepared: PreparedQuery, hits: Sequence[Hit]) -> int | None:
    """The number of hits before the weak part of a list, best first; None if it has none.

    Hits need records. A ranking by vectors finds sentences with other words, so its lists have no weak part.
    """
    reranker = prepared.ranking.reranker()
    terms = frozenset(prepared.interpretation.counts)
    if len(terms) < 2 or (reranker is not None and reranker.uses_vectors):
        return None
    weights = weigh_by_rarity(prepared.index, terms)
    least = STRONG_SHARE * sum(weights.values())
    run = 0
    for place, hit in enumerate(hits):
        run = run + 1 if _weigh(prepared, hit, weights) < least else 0
        if run == WEAK_RUN:
            return place + 1 - WEAK_RUN
    return None


def _weigh(prepared: PreparedQuery, hit: Hit, weights: Mapping[str, float]) -> float:
    """The weight of the terms in the sentence, its neighbours and its headline."""
    record, analyze = require_record(hit), prepared.index.analyzer.terms
    texts = (record.text, record.previous, record.next, record.title)
    present = {term for text in texts if text for term in analyze(text) if term in weights}
    return sum(weights[term] for term in present)
