"""The newest sentences that have all words of a query, each with its score for it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from esr.engines.index import NO_FILTERS, Filters, Hit
from esr.ranking.prepared_query import Answer, PreparedQuery, check_k, elapsed_ms
from esr.ranking.sentence_scores import known_scores


def find_newest(
    prepared: PreparedQuery, k: int = 10, filters: Filters = NO_FILTERS, *, records: bool = True
) -> Answer:
    """The k newest of all that match; sentences without a date are last. `total` counts all that match.

    Equal dates are in collection order.
    """
    k = check_k(k)
    started = time.perf_counter()
    result = prepared.index.by_date(prepared.all_words, k, filters, records=records)
    hits = add_scores(prepared, result.hits)
    took = prepared.took_ms + elapsed_ms(started)
    return Answer(hits, result.total, took, prepared.unseen, result.incomplete)


def add_scores(prepared: PreparedQuery, hits: Sequence[Hit]) -> list[Hit]:
    """The same hits with their scores for the query. A sentence that the ranking has no score for has 0."""
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    scores = known_scores(prepared, ids, ordinals)
    return [hit._replace(score=score) for hit, score in zip(hits, scores, strict=True)]
