"""The newest or the oldest sentences of a query."""

from __future__ import annotations

import time
from collections.abc import Sequence

from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.index.questions import Hits
from esr.ranking.prepared_query import Answer, PreparedQuery, check_k, elapsed_ms, known_scores


def find_newest(
    prepared: PreparedQuery,
    k: int = 10,
    filters: Filters = NO_FILTERS,
    *,
    oldest_first: bool = False,
) -> Answer:
    """Return the k newest, or oldest, of all matching sentences. Those without a date come last.

    Ties are in collection order. `total` counts all that match.
    """
    k = check_k(k)
    started = time.perf_counter()
    result = prepared.index.select(prepared.all_words, k, filters, Hits(), oldest_first=oldest_first)
    hits = add_scores(prepared, result.hits)
    took = prepared.took_ms + elapsed_ms(started)
    return Answer(hits, result.total, took, prepared.unseen, result.incomplete)


def add_scores(prepared: PreparedQuery, hits: Sequence[Hit]) -> list[Hit]:
    """Add scores for the query to the hits, 0 for a sentence without a score."""
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    scores = known_scores(prepared, ids, ordinals)
    return [hit._replace(score=score) for hit, score in zip(hits, scores, strict=True)]
