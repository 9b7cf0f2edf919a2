"""Lists of sentences for a request: ranked, newest, new or in context.

The first n entries do not depend on how many are requested, so "Show more" moves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from esr.corpus.concordance import Concordance, LineOptions, build_concordance
from esr.errors import UsageError
from esr.following.newest import add_scores, find_newest
from esr.following.novelty import NovelAnswer, find_novel
from esr.following.passages import hits_to_fold
from esr.index.hits import Hit
from esr.index.questions import Hits, Records
from esr.ranking.answers import Passage, single
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.ranking import ENCODER_SECONDS, choose_ranking
from esr.ranking.searcher import Searcher
from esr.stdlib import batched
from webui.answers.entries import Entry, arrange_hits, build_entries, hits_to_fetch
from webui.arguments.request import (
    Arguments,
    SearchRequest,
    check_query,
    check_text,
)
from webui.running.problems import blame_argument
from webui.running.settings import Settings
from webui.running.telemetry import record_search

_GROWTH = 4


class RankedAnswer(NamedTuple):
    """An answer and its prepared query."""

    answer: Answer
    prepared: PreparedQuery


class ArrangedAnswer(NamedTuple):
    """An answer, the entries of all its hits, and whether there are more than k."""

    answer: Answer
    entries: list[Entry]
    has_more: bool


def rank_sentences(
    searcher: Searcher, search: SearchRequest, k: int, settings: Settings, *, records: bool = True
) -> RankedAnswer:
    """The first k sentences for a search. Raises a RequestError that names the argument at fault.

    `records`: whether hits have their records. Lists by date and of what is new always have them.
    """
    prepared = prepare_search(searcher, search, settings)
    with blame_argument(None):
        is_novel = search.arrangement.novel
        answer = (
            _find_novel(prepared, search, k).answer if is_novel else _find_hits(prepared, search, k, records)
        )
    record_search(search.query, answer.total)
    return RankedAnswer(answer, prepared)


def answer_queries(
    searcher: Searcher,
    search: SearchRequest,
    queries: Mapping[str, str],
    k: int,
    settings: Settings,
    redact: Callable[[str], str],
    *,
    records: bool = True,
) -> tuple[dict[str, Answer], dict[str, str]]:
    """The answers to many queries by name, and why the others cannot be searched for.

    `search` has what they share; its own query is ignored. `redact` removes from a reason what clients must
    not see. `records`: as for `rank_sentences`. Raises RequestError if an argument other than the query is at
    fault.
    """
    snapshot = searcher.snapshot()
    ranking = choose_ranking(search.ranking, snapshot.index, ENCODER_SECONDS)
    answers: dict[str, Answer] = {}
    skipped: dict[str, str] = {}
    for name, query in queries.items():
        try:
            check_text("q", query, settings.query_chars)
            search_for_query = replace(search, query=query, ranking=ranking)
            answers[name] = rank_sentences(snapshot, search_for_query, k, settings, records=records).answer
        except UsageError as error:
            if getattr(error, "field", "q") != "q":
                raise
            skipped[name] = redact(str(error))
    return answers, skipped


def rank_and_arrange(
    prepared: PreparedQuery, search: SearchRequest, k: int, settings: Settings
) -> ArrangedAnswer:
    """The hits of the first k entries, up to the depth of pages, arranged as requested. Raises RequestError.

    `prepared`: the result of `prepare_search`.
    """
    arrangement = search.arrangement
    with blame_argument(None):
        if arrangement.novel:
            # One extra hit shows whether there are more.
            novel = _find_novel(prepared, search, hits_to_fetch(arrangement, k, settings.max_k) + 1)
            answer = novel.answer
            repeats = novel.repeats if arrangement.fold else {}
            passages = single([hit, *repeats.get(hit.sentence_id, ())] for hit in answer.hits)
        else:
            find = _HitFinder(prepared, search, k + settings.max_k).find
            answer, passages = _fill_list(find, prepared, search, k, settings)
        has_more = len(entries := build_entries(passages, arrangement)) > k
        if not (has_more or arrangement.group or arrangement.novel) and answer.total > len(answer.hits):
            # The list is short if hits repeat others or do not answer the query. More entries may follow.
            has_more = len(entries) == k
            if arrangement.joins and not has_more:
                further = min(k + settings.max_k, settings.max_depth)
                answer, passages = _fill_list(find, prepared, search, further, settings)
                has_more = len(entries := build_entries(passages, arrangement)) > k
    record_search(search.query, answer.total)
    return ArrangedAnswer(answer, entries, has_more)


class _HitFinder:
    """The hits of a search, of which a list may ask for more and more.

    A second stage ranks as many however few are asked for, so it runs once, and only their records are read
    later.
    """

    def __init__(self, prepared: PreparedQuery, search: SearchRequest, most: int) -> None:
        self._prepared = prepared
        self._search = search
        self._most = hits_to_fold(most)
        reranker = None if search.arrangement.by_date else prepared.ranking.reranker()
        self._is_once = reranker is not None and not search.parsed.languages
        self._ranked: Answer | None = None
        self._read: list[Hit] = []

    def find(self, k: int) -> Answer:
        """The first k hits, with their records."""
        if not self._is_once or k > self._most:
            return _find_hits(self._prepared, self._search, k)
        if self._ranked is None:
            self._ranked = self._prepared.search(self._most, self._search.filters, records=False)
        hits = self._ranked.hits[len(self._read) : k]
        records = self._prepared.index.read([hit.sentence_id for hit in hits], Records()) if hits else []
        self._read += [hit._replace(record=record) for hit, record in zip(hits, records, strict=True)]
        return replace(self._ranked, hits=self._read[:k])


def _fill_list(
    find: Callable[[int], Answer],
    prepared: PreparedQuery,
    search: SearchRequest,
    k: int,
    settings: Settings,
) -> tuple[Answer, list[Passage]]:
    """The hits of k entries, and their passages: fewer than k if most hits are folded."""
    arrangement = search.arrangement
    count = hits_to_fetch(arrangement, k, settings.max_k)
    most = _GROWTH * hits_to_fold(k) if arrangement.joins else hits_to_fold(settings.max_depth)
    while True:
        answer = find(count)
        passages = arrange_hits(answer.hits, arrangement, prepared, search.filters)
        is_filled = arrangement.group or len(passages) >= min(k, answer.total)
        if is_filled or len(answer.hits) < count or count >= most:
            return answer, passages
        count *= _GROWTH  # most hits repeat others or are neighbours of them


class Listing(NamedTuple):
    """The hits of a file, read in batches; their number; what is missing; how many sentences match."""

    hits: Iterator[Hit]
    prepared: PreparedQuery
    incomplete: str | None
    total: int


_BATCH = 1_000
"""Sentences of a file read at a time."""


def list_hits(
    searcher: Searcher, search: SearchRequest, settings: Settings, is_all: bool, most: int | None = None
) -> Listing:
    """The hits of a file of at most `most` rows. Raises RequestError.

    Up to a limit these are the best sentences of the entries of the page, beyond it all of the ranking in
    order, unfolded. `is_all`: the search is for all sentences that match, up to its `k`.
    """
    listed = settings.max_k if search.arrangement.group else settings.max_depth
    prepared = prepare_search(searcher, search, settings)
    k = min(search.k, most or search.k)
    if search.arrangement.novel or (search.k <= listed and not is_all):
        answer, entries, _ = rank_and_arrange(prepared, search, k, settings)
        best = (passage.best for entry in entries[:k] for passage in entry.passages)
        return Listing(best, prepared, answer.incomplete, answer.total)
    with blame_argument(None):
        if search.arrangement.by_date:
            result = prepared.index.select(
                prepared.all_words,
                k,
                search.filters,
                Hits(records=False),
                oldest_first=search.arrangement.sort == "oldest",
            )
            hits = _read_records(prepared, result.hits, is_scored=False)
            incomplete, total = result.incomplete, result.total
        else:
            ranked = prepared.with_matching() if is_all else prepared
            answer = ranked.search(k, search.filters, records=False)
            hits = _read_records(prepared, answer.hits)
            incomplete, total = answer.incomplete, answer.total
    if total > k and (is_all or k < search.k):
        incomplete = incomplete or f"only the first {k:,} of {total:,} sentences"
    return Listing(hits, prepared, incomplete, total)


def _read_records(prepared: PreparedQuery, hits: Sequence[Hit], is_scored: bool = True) -> Iterator[Hit]:
    for batch in batched(hits, _BATCH):
        scored = batch if is_scored else add_scores(prepared, batch)
        records = prepared.index.read([hit.sentence_id for hit in batch], Records())
        yield from (hit._replace(record=record) for hit, record in zip(scored, records, strict=True))


SERVED_SENTENCES = 20_000
"""Maximum sentences that a request for words in context reads, so that it does not delay others."""


def list_occurrences(
    searcher: Searcher,
    search: SearchRequest,
    arguments: Arguments,
    settings: Settings,
    k: int,
    most: int = SERVED_SENTENCES,
    offset: int = 0,
) -> Concordance:
    """The first k occurrences, after `offset`, of the words of a search, sorted and cut as its arguments say.

    `most`: the maximum number of sentences to read.

    Raises RequestError.
    """
    check_query(searcher, search.parsed, settings)
    with blame_argument(None):
        shape = {name: arguments.value(name) for name in ("sort", "width", "unit", "sample", "seed")}
        options = LineOptions(most=most, k=k, offset=offset, **shape)
        return build_concordance(searcher, search.parsed, search.filters, options)


def prepare_search(searcher: Searcher, search: SearchRequest, settings: Settings) -> PreparedQuery:
    """Plan a search. Raises a RequestError that names the argument at fault."""
    started = time.perf_counter()
    with blame_argument(search.language_field):
        searcher = searcher.for_query(search.parsed)
    interpretation = check_query(searcher, search.parsed, settings)
    if search.require_all:
        interpretation = searcher.interpret(search.parsed, require_all=True)
    with blame_argument("feature"):
        searcher.check_features(feature.feature for feature in search.ranking.features)
    with blame_argument(None):
        return searcher.prepare_interpretation(interpretation, search.ranking_on(searcher), started)


def _find_hits(prepared: PreparedQuery, search: SearchRequest, k: int, records: bool = True) -> Answer:
    if search.arrangement.by_date:
        return find_newest(prepared, k, search.filters, oldest_first=search.arrangement.sort == "oldest")
    return prepared.search(k, search.filters, records=records)


def _find_novel(prepared: PreparedQuery, search: SearchRequest, k: int) -> NovelAnswer:
    return find_novel(prepared, k, search.filters, threshold=search.arrangement.overlap)
