"""Passages: the hits of a query, with neighbours joined and repeats folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress

from msgspec.structs import replace

from esr.following.repeats import analyze_hits, group_hits
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.ranking.answers import (
    MOST_OF_DOCUMENT,
    Passage,
    build_passages,
    explain_wordless,
    find_wordless,
    limit_passages,
    select_answering,
    single,
)
from esr.ranking.prepared_query import Answer, PreparedQuery

_HITS_PER_SENTENCE, _MAX_MORE = 3, 2_000
"""Hits fetched for each sentence of a folded list, and the maximum of hits minus sentences."""


MANY = 10
"""Factor by which more hits are read if most of the first ones are repeats, or of few documents."""
_MOST_READ, _MOST_FOLDED = 30_000, 3_000
"""The hits that are read for a short list at most, and if repeats are folded, which takes longer."""


def hits_to_fold(k: int) -> int:
    """The number of hits to fetch for a folded list of k items, since repeats and neighbours are joined."""
    return min(k * _HITS_PER_SENTENCE, k + _MAX_MORE)


def find_passages(
    find: Callable[[int], Answer],
    prepared: PreparedQuery,
    k: int,
    filters: Filters,
    *,
    overlap: float | None,
    joins: bool,
    per_document: int | None = None,
) -> tuple[Answer, list[Passage]]:
    """The first k passages of a query, with an answer that has their best hits.

    `find` returns the answer with n hits. The other arguments are those of `list_passages`.
    """
    is_short = overlap is not None or joins or per_document is not None
    count = hits_to_fold(k) if is_short else k
    arrange = partial(
        list_passages, prepared, filters=filters, overlap=overlap, joins=joins, per_document=per_document
    )
    most = max(MANY * count, _MOST_READ if overlap is None else _MOST_FOLDED)
    answer = find(count)
    listed = arrange(answer.hits)
    while len(listed) < k and len(answer.hits) == count < most:  # most hits are repeats or neighbours
        count = min(MANY * count, most)
        answer = find(count)
        listed = arrange(answer.hits)
    return replace(answer, hits=[passage.best for passage in listed[:k]]), listed[:k]


def list_passages(
    prepared: PreparedQuery,
    hits: Sequence[Hit],
    filters: Filters = NO_FILTERS,
    *,
    overlap: float | None,
    joins: bool,
    per_document: int | None = None,
) -> list[Passage]:
    """The hits of a query as passages, best first. Hits must have records.

    `overlap` is the minimum share in an earlier sentence that makes a repeat; None folds nothing. With
    `joins`, neighbours form one passage, and sentences that do not answer the query are left out. A document
    has at most `per_document` passages, by default MOST_OF_DOCUMENT with `joins` and any number without,
    unless the filters name documents.
    """
    terms = analyze_hits(hits, prepared.index) if joins or overlap is not None else []
    wordless: frozenset[str] = frozenset()
    if joins:
        wordless = find_wordless(prepared, hits, terms)
        answers = select_answering(prepared, hits, wordless)
        hits, terms = list(compress(hits, answers)), list(compress(terms, answers))
    groups: Sequence[Sequence[Hit]] = [[hit] for hit in hits]
    if overlap is not None:
        groups = group_hits(hits, prepared.index, overlap, terms)
    most = MOST_OF_DOCUMENT if joins and per_document is None else per_document
    most = None if filters.documents else most
    if not joins:
        passages = single(groups)
        return passages if most is None else limit_passages(passages, most)
    passages = build_passages(groups, most, wordless)
    for passage in passages:
        if passage.best.sentence_id in wordless:
            passage.reason = explain_wordless(prepared, passage.best)
    return passages
