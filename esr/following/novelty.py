"""What is new: sentences in the order of their dates, without those that repeat what was said before.

Source: docs/formulas.md, section G.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from esr.engines.index import NO_FILTERS, Filters, Hit, Index
from esr.following.newest import add_scores
from esr.following.overlap import DEFAULT_THRESHOLD, Terms, check_threshold, find_overlaps, group_repeats
from esr.models.idf import rarity
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import Answer, PreparedQuery, check_k, elapsed_ms

MAX_READ = 10_000
"""Sentences that are read for one answer, the oldest first. More would take too long."""
MAX_BEFORE = 2_000
"""Sentences before the first day asked for that count as said before, the last ones."""
_FIRST_READ, _GROWTH = 200, 4
_HITS_PER_SENTENCE, _MAX_MORE = 3, 2_000
"""Hits that are fetched for each sentence of a folded list, and at most how many more than sentences."""


class NovelAnswer(Struct, frozen=True):
    """The new sentences, and for each, by its id, the later ones that repeat it, as far as they were read.

    `incomplete` of the answer says so where fewer than k are new among those that may be read.
    """

    answer: Answer
    repeats: Mapping[str, Sequence[Hit]]


def group_hits(hits: Sequence[Hit], index: Index, threshold: float) -> list[list[Hit]]:
    """The hits in groups: one that says something new with those after it that repeat the group.

    More hits after these change none of the first sentences. Raises UsageError for a bad threshold.
    """
    check_threshold(threshold)
    return _group_by_terms(hits, _analyze(hits, index), index, threshold)


def fold_answer(answer: Answer, index: Index, k: int, threshold: float = DEFAULT_THRESHOLD) -> NovelAnswer:
    """The first k hits that repeat none before them, and what repeats each of them.

    The answer needs the records of `hits_to_fold` hits. Raises UsageError for a bad threshold.
    """
    groups = group_hits(answer.hits, index, threshold)[:k]
    repeats = {first.sentence_id: rest for first, *rest in groups}
    return NovelAnswer(replace(answer, hits=[group[0] for group in groups]), repeats)


def hits_to_fold(k: int) -> int:
    """How many hits to fetch, so that repeats do not leave a folded list of k sentences short."""
    return min(k * _HITS_PER_SENTENCE, k + _MAX_MORE)


def _analyze(hits: Sequence[Hit], index: Index) -> list[Terms]:
    return [frozenset(index.analyzer.terms(require_record(hit).text)) for hit in hits]


def _group_by_terms(
    hits: Sequence[Hit], terms: Sequence[Terms], index: Index, threshold: float
) -> list[list[Hit]]:
    groups = group_repeats(find_overlaps(terms, lambda needed: weigh_by_rarity(index, needed)), threshold)
    return [[hits[place] for place in group] for group in groups]


def weigh_by_rarity(index: Index, terms: Collection[str]) -> Mapping[str, float]:
    """log( (N + 1) / (0.5 + sf(t)) ) of each term (docs/formulas.md, G.1)."""
    statistics = index.statistics(list(terms))
    size = statistics.collection.sentences
    sf = {term: min(of_term.sf, size) for term, of_term in statistics.terms.items()}
    return {term: rarity(size, count) for term, count in sf.items()}


def find_novel(
    prepared: PreparedQuery,
    k: int = 10,
    filters: Filters = NO_FILTERS,
    *,
    threshold: float = DEFAULT_THRESHOLD,
) -> NovelAnswer:
    """The k oldest sentences that match and say something new. Those without a date are last.

    A sentence is new if no earlier one that matches contains the share `threshold` of it. Where the filters
    have a first day, what was said before that day is not new either. `total` counts all that match.
    """
    k = check_k(k)
    check_threshold(threshold)
    started = time.perf_counter()
    before, total_before = _read_before(prepared, filters)
    known = {hit.sentence_id for hit in before}
    count = max(_FIRST_READ, _GROWTH * k)
    terms: list[Terms] = []
    while True:
        count = min(count, MAX_READ)
        result = prepared.index.by_date(prepared.all_words, count, filters, oldest_first=True)
        hits = [*before, *result.hits]
        terms += _analyze(hits[len(terms) :], prepared.index)  # more are read after those known
        groups = _group_by_terms(hits, terms, prepared.index, threshold)
        new = [group for group in groups if group[0].sentence_id not in known]
        has_all = len(result.hits) >= result.total or len(result.hits) < count
        if len(new) >= k or has_all or count == MAX_READ:
            break
        count *= _GROWTH
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
    """The last sentences before the first day, the oldest first, and how many there are."""
    if filters.date_from is None:
        return [], 0
    earlier = replace(filters, date_from=None, date_to=filters.date_from - 1)
    result = prepared.index.by_date(prepared.all_words, MAX_BEFORE, earlier)
    return list(result.hits)[::-1], result.total


def _say_bound(what: str) -> str:
    return f"only the {what} were compared: limit the dates, or add words to the query"
