"""The newest sentences that have all words of a query, each with its score for it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from esr.engines.index import NO_FILTERS, Filters, Hit
from esr.errors import UsageError
from esr.ranking.prepared_query import Answer, PreparedQuery, elapsed_ms
from esr.ranking.sentence_scores import score_given


def find_newest(
    prepared: PreparedQuery, k: int = 10, filters: Filters = NO_FILTERS, *, records: bool = True
) -> Answer:
    """The k newest of all that match; sentences without a date are last. `total` counts all that match.

    Equal dates are in collection order.
    """
    if k < 1:
        raise UsageError(f"k must be a positive number, not {k}")
    started = time.perf_counter()
    result = prepared.index.by_date(prepared.all_words, k, filters, records=records)
    hits = add_scores(prepared, result.hits)
    took = prepared.took_ms + elapsed_ms(started)
    return Answer(hits, result.total, took, prepared.unseen, result.incomplete)


def add_scores(prepared: PreparedQuery, hits: Sequence[Hit]) -> Sequence[Hit]:
    """The same hits with their scores for the query. A sentence that the ranking has no score for has 0."""
    if not hits or not prepared.plan.terms:
        return hits
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    scores = np.nan_to_num(score_given(prepared, ids, ordinals)[0], posinf=0.0, neginf=0.0)
    return [hit._replace(score=score) for hit, score in zip(hits, scores.tolist(), strict=True)]
