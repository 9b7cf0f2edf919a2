"""Lists for readers: hits as passages, as the page, the API and the command line show them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress

from msgspec.structs import replace

from esr.following.novelty import MANY, analyze_hits, group_hits, hits_to_fold
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.ranking.passages import (
    MOST_OF_DOCUMENT,
    Passage,
    build_passages,
    explain_wordless,
    find_wordless,
    select_answering,
    single,
)
from esr.ranking.prepared_query import Answer, PreparedQuery


def find_passages(
    find: Callable[[int], Answer],
    prepared: PreparedQuery,
    k: int,
    filters: Filters,
    *,
    overlap: float | None,
    joins: bool,
) -> tuple[Answer, list[Passage]]:
    """The first k passages of a query, with the answer whose hits are their best ones.

    `find` gives the answer with n hits. The other arguments are those of `list_passages`.
    """
    count = k if overlap is None and not joins else hits_to_fold(k)
    arrange = partial(list_passages, prepared, filters=filters, overlap=overlap, joins=joins)
    answer = find(count)
    listed = arrange(answer.hits)
    if len(listed) < k and len(answer.hits) == count:  # most hits are repeats or neighbours
        answer = find(MANY * count)
        listed = arrange(answer.hits)
    return replace(answer, hits=[passage.best for passage in listed[:k]]), listed[:k]


def list_passages(
    prepared: PreparedQuery,
    hits: Sequence[Hit],
    filters: Filters = NO_FILTERS,
    *,
    overlap: float | None,
    joins: bool,
) -> list[Passage]:
    """The hits of a query as passages, best first. They need records.

    `overlap` is the share of a sentence from which an earlier one makes it a repeat, None to fold none. With
    `joins`, neighbours are one passage, a document has few, and sentences that do not answer are left out.
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
    if not joins:
        return single(groups)
    passages = build_passages(groups, None if filters.documents else MOST_OF_DOCUMENT, wordless)
    for passage in passages:
        if passage.best.sentence_id in wordless:
            passage.reason = explain_wordless(prepared, passage.best)
    return passages
