"""Novelty: the sentences of a query that say something new, oldest first.

A sentence is a repeat if an earlier one contains a large enough share of its terms, weighted by rarity
(docs/formulas.md, section G).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from esr.following.newest import add_scores
from esr.following.overlap import DEFAULT_THRESHOLD, Terms, check_threshold
from esr.following.repeats import analyze_hits, group_by_terms
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.index.questions import Hits
from esr.ranking.prepared_query import Answer, PreparedQuery, check_k, elapsed_ms

MAX_READ = 10_000
"""Maximum sentences read for one answer, oldest first."""
MAX_BEFORE = 2_000
"""Maximum sentences read from before the first requested day, the latest ones."""
FIRST_READ, GROWTH = 200, 4
"""Minimum sentences read at first, and the factor by which further reads grow."""


class NovelAnswer(Struct, frozen=True):
    """The new sentences, and for each, by its id, the later ones read that repeat it.

    The answer's `incomplete` is set if reading stopped at the limit with fewer than k new sentences.
    """

    answer: Answer
    repeats: Mapping[str, Sequence[Hit]]


def find_novel(
    prepared: PreparedQuery,
    k: int = 10,
    filters: Filters = NO_FILTERS,
    *,
    threshold: float = DEFAULT_THRESHOLD,
) -> NovelAnswer:
    """Return the k oldest matching sentences that say something new. Those without a date come last.

    A sentence is new if no earlier matching one contains the share `threshold` of it. If the filters have a
    first day, repeats of what was said before that day are not new either. `total` counts all that match.
    """
    k = check_k(k)
    check_threshold(threshold)
    started = time.perf_counter()
    before, total_before = _read_before(prepared, filters)
    known = {hit.sentence_id for hit in before}
    count = max(FIRST_READ, GROWTH * k)
    terms: list[Terms] = []
    while True:
        count = min(count, MAX_READ)
        result = prepared.index.select(prepared.all_words, count, filters, Hits(), oldest_first=True)
        hits = [*before, *result.hits]
        terms += analyze_hits(hits[len(terms) :], prepared.index)  # analyse only the hits just read
        groups = group_by_terms(hits, terms, prepared.index, threshold)
        new = [group for group in groups if group[0].sentence_id not in known]
        has_all = len(result.hits) >= result.total or len(result.hits) < count
        if len(new) >= k or has_all or count == MAX_READ:
            break
        count *= GROWTH
    incomplete = result.incomplete
    if len(new) < k and not has_all:
        incomplete = incomplete or _say_bound(f"oldest {MAX_READ:,} of {result.total:,} sentences")
    if len(before) < total_before:
        bound = f"last {MAX_BEFORE:,} of {total_before:,} sentences before the first day"
        incomplete = incomplete or _say_bound(bound)
    scored = add_scores(prepared, [group[0] for group in new[:k]])
    repeats = {group[0].sentence_id: group[1:] for group in new[:k]}
    took = prepared.took_ms + elapsed_ms(started)
    return NovelAnswer(Answer(scored, result.total, took, prepared.unseen, incomplete), repeats)


def _read_before(prepared: PreparedQuery, filters: Filters) -> tuple[Sequence[Hit], int]:
    """The last sentences before the first day, oldest first, and the number of all before it."""
    if filters.date_from is None:
        return [], 0
    earlier = replace(filters, date_from=None, date_to=filters.date_from - 1)
    result = prepared.index.select(prepared.all_words, MAX_BEFORE, earlier, Hits())
    return list(result.hits)[::-1], result.total


def _say_bound(bound: str) -> str:
    return f"only the {bound} were compared: limit the dates, or add words to the query"
