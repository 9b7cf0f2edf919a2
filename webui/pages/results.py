"""The page of results: entries, the reason for each, how the query was read, and the rail of filters.

The page counts the sentences that match the query, not the candidates: a ranking with context also ranks
sentences whose neighbours have a word of the query. Reasons are in words; the page that explains a score has
the arithmetic.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from msgspec.structs import replace

from esr.errors import EsrError
from esr.following.copies import CopyNote, find_copies
from esr.following.timeline import name_of
from esr.following.weaker import find_weaker
from esr.index.filters import NO_FILTERS
from esr.index.questions import ByDay
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.query_report import QueryReport, report_query
from esr.ranking.searcher import Searcher
from esr.text.analyzer import Analyzer
from webui.answers.articles import Articles, count_articles, find_headings
from webui.answers.entries import Entry
from webui.answers.lists import prepare_search, rank_and_arrange
from webui.arguments.request import SearchRequest
from webui.pages.dates import Dates, count_dates
from webui.pages.facets import FacetList, count_facets
from webui.pages.understanding import Understanding, describe_understanding
from webui.pages.wording import Reasons, describe_hits
from webui.running.gate import start_beside
from webui.running.settings import Settings
from webui.running.telemetry import record_search

Match = Literal["conditions", "one word", "all words", "any word"]
"""What makes a sentence match: the conditions of the query, or the words it contains."""


class AnswerCounts(NamedTuple):
    """The numbers of sentences that match by `match`, have all words, and are candidates (`ranked`).

    `matching` is None if it is unknown, `with_all` if it adds nothing. `is_of_all_words`: the list, its
    filters and its chart have only sentences with all words.
    """

    match: Match
    matching: int | None
    with_all: int | None
    ranked: int
    is_of_all_words: bool = False


def count_answer(
    answer: Answer, prepared: PreparedQuery, report: QueryReport, by_date: bool = False
) -> AnswerCounts:
    """The counts of an answer. `by_date`: the answer lists all sentences that match, and no others."""
    if by_date:
        match = _match(prepared, report, report.counts.matching)
        return AnswerCounts(match, None, None, answer.total, match != "conditions" or bool(report.terms))
    matching, all_words = report.counts
    match = _match(prepared, report, matching)
    is_known = match in ("one word", "all words") or all_words == matching
    return AnswerCounts(match, matching, None if is_known else all_words, answer.total)


def _match(prepared: PreparedQuery, report: QueryReport, matching: int | None) -> Match:
    interpretation = prepared.interpretation
    if interpretation.decides_candidates and not interpretation.parsed.is_plain:
        return "conditions"
    if len(report.terms) == 1:
        return "one word"
    return "all words" if report.counts.all_words == matching else "any word"


GROUP_SENTENCES = 3
"""Sentences shown of each document when sentences are grouped by document."""


class UnknownQuery(NamedTuple):
    """A query as typed, all of whose words are unknown, and the words."""

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Results:
    """The content of a page of results.

    `search` is what was searched for. If no document has any word of the query as typed, which is then
    `unknown`, it is the query as it was likely meant.

    `reasons`: why each sentence is listed, by sentence id. `headings`: the headings of documents without a
    title, by document id. `next_k`: how many sentences "Show more" requests, or None. `terms`: the terms of
    `analyzer` to mark in sentences. `weaker`: the number of entries before the weak part of the list,
    or None. `copies`: notes on copies in other documents, by sentence id. `span`: the first and the
    last day of the collection, where nothing of a period was found.
    """

    search: SearchRequest
    unknown: UnknownQuery | None
    answer: Answer
    entries: Sequence[Entry]
    dates: Dates | None
    facets: Sequence[FacetList]
    reasons: Reasons
    headings: Mapping[str, str]
    next_k: int | None
    terms: Collection[str]
    analyzer: Analyzer
    report: QueryReport
    counts: AnswerCounts
    understanding: Understanding
    articles: Articles
    weaker: int | None
    copies: Mapping[str, CopyNote]
    span: tuple[str, str] | None

    @property
    def rows(self) -> int:
        """Number of rows of a file of these entries: the best sentence of each passage."""
        return sum(len(entry.passages) for entry in self.entries)

    @property
    def folded(self) -> int:
        """Number of sentences folded into others."""
        return sum(len(passage.similar) for entry in self.entries for passage in entry.passages)


def _find_span(searcher: Searcher, search: SearchRequest) -> tuple[str, str] | None:
    """The first and the last day of the collection, as 2017-03-30, for a search that is limited by date."""
    if search.filters.date_from is None and search.filters.date_to is None:
        return None
    try:
        (days,) = searcher.index.count([None], NO_FILTERS, ByDay())
    except EsrError:  # as for facets
        return None
    return (name_of(min(days), "day"), name_of(max(days), "day")) if days else None


def find_results(searcher: Searcher, search: SearchRequest, settings: Settings) -> Results:
    """The results of a search, or of what it likely meant. Raises RequestError."""
    return searcher.index.on_latest(
        lambda index: _find_results(Searcher(index, owns_index=False), search, settings)
    )


def _find_results(
    searcher: Searcher, search: SearchRequest, settings: Settings, unknown: UnknownQuery | None = None
) -> Results:
    prepared = prepare_search(searcher, search, settings)
    index, filters = prepared.index, search.filters
    report_of = cache(start_beside(index, lambda: report_query(prepared, filters)))
    if unknown is None and _has_only_unknown_words(search, prepared):
        likely_query = report_of().corrected
        if likely_query is not None:
            record_search(search.query, 0)
            unknown = UnknownQuery(search.query, prepared.unseen)
            return _find_results(searcher, replace(search, query=likely_query), settings, unknown)
    by_date = search.arrangement.by_date or search.arrangement.novel
    dates = start_beside(index, lambda: count_dates(prepared, filters, by_date))
    facets = start_beside(index, lambda: count_facets(prepared, filters, search.facet, by_date))
    answer, entries, has_more = rank_and_arrange(prepared, search, search.k, settings)
    next_k = min(search.k + settings.more_k, settings.max_k) if search.k < settings.max_k else None
    listed = entries[: search.k]
    articles = start_beside(index, lambda: count_articles(prepared, listed, filters))
    best = [passage.best for entry in listed for passage in entry.passages[:GROUP_SENTENCES]]
    copies = start_beside(index, lambda: find_copies(index, best))
    bests = [entry.best for entry in entries]
    weaker = None if by_date else start_beside(index, lambda: find_weaker(prepared, bests))
    report = report_of()
    shown = [
        hit for entry in listed for passage in entry.passages for hit in (passage.best, *passage.similar)
    ]
    return Results(
        search,
        unknown,
        answer,
        listed,
        dates(),
        facets(),
        describe_hits(best, prepared.interpretation.words, index.analyzer),
        find_headings(index, map(require_record, shown)),
        next_k if has_more else None,
        prepared.counts,
        index.analyzer,
        report,
        count_answer(answer, prepared, report, by_date),
        describe_understanding(search, report),
        articles(),
        None if weaker is None else weaker(),
        copies(),
        None if listed else _find_span(searcher, search),
    )


def _has_only_unknown_words(search: SearchRequest, prepared: PreparedQuery) -> bool:
    """Whether the query is of words alone, and no document has any of them."""
    if search.is_literal or not search.parsed.is_plain:
        return False
    terms = prepared.statistics.terms
    return not any(terms[term].is_seen for term in prepared.interpretation.counts)
