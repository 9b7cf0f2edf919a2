"""The best, the newest or the new sentences for a search."""

from __future__ import annotations

import time
from typing import NamedTuple

from esr.following.newest import find_newest
from esr.following.novelty import NovelAnswer, find_novel, hits_to_fold
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.searcher import Searcher
from webui.answers.entries import Entry, FoldedHit, build_entries, fold_hits, hits_to_fetch
from webui.arguments.query_check import check_query
from webui.arguments.search_request import SearchRequest
from webui.running.request_errors import blame_argument
from webui.running.settings import Settings

_GROWTH = 4


class RankedAnswer(NamedTuple):
    """An answer, and the query as it was planned for it."""

    answer: Answer
    prepared: PreparedQuery


class ArrangedAnswer(NamedTuple):
    """An answer, its query, all entries that its hits make, and whether more than k can be had."""

    answer: Answer
    prepared: PreparedQuery
    entries: list[Entry]
    has_more: bool


def rank_sentences(searcher: Searcher, search: SearchRequest, k: int, settings: Settings) -> RankedAnswer:
    """The first k sentences for a search, from a snapshot. Raises RequestError, which names the argument."""
    prepared = _prepare(searcher, search, settings)
    with blame_argument(None):
        if search.arrangement.novel:
            return RankedAnswer(_find_novel(prepared, search, k).answer, prepared)
        return RankedAnswer(_find_hits(prepared, search, k), prepared)


def rank_and_arrange(searcher: Searcher, search: SearchRequest, k: int, settings: Settings) -> ArrangedAnswer:
    """As many hits as k entries need, as far as pages reach, arranged as the search says. Raises as above."""
    arrangement = search.arrangement
    prepared = _prepare(searcher, search, settings)
    count = hits_to_fetch(arrangement, k, settings.max_k)
    with blame_argument(None):
        if arrangement.novel:
            novel = _find_novel(prepared, search, count + 1)  # one more tells whether there are more
            answer = novel.answer
            repeats = novel.repeats if arrangement.fold else {}
            folded = [FoldedHit(hit, repeats.get(hit.sentence_id, ())) for hit in answer.hits]
        else:
            while True:
                answer = _find_hits(prepared, search, count)
                folded = fold_hits(answer.hits, arrangement, prepared.index)
                if arrangement.group or len(folded) >= min(k, answer.total) or len(answer.hits) < count:
                    break
                if count >= hits_to_fold(settings.max_depth):
                    break
                count *= _GROWTH  # most of the hits repeat others
    entries = build_entries(folded, arrangement)
    can_grow = not arrangement.group and not arrangement.novel and answer.total > len(answer.hits)
    return ArrangedAnswer(answer, prepared, entries, len(entries) > k or can_grow)


def _prepare(searcher: Searcher, search: SearchRequest, settings: Settings) -> PreparedQuery:
    started = time.perf_counter()
    interpretation = check_query(searcher, search.parsed, settings)
    if search.require_all:
        interpretation = searcher.interpret(search.parsed, require_all=True)
    with blame_argument("feature"):
        searcher.check_features(feature.feature for feature in search.ranking.features)
    with blame_argument(None):
        return searcher.prepare_interpretation(interpretation, search.ranking, started)


def _find_hits(prepared: PreparedQuery, search: SearchRequest, k: int) -> Answer:
    if search.arrangement.sort == "date":
        return find_newest(prepared, k, search.filters)
    return prepared.search(k, search.filters)


def _find_novel(prepared: PreparedQuery, search: SearchRequest, k: int) -> NovelAnswer:
    return find_novel(prepared, k, search.filters, threshold=search.arrangement.overlap)
