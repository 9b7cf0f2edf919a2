"""The page of results: entries, facets, evidence bars, and whether there is more."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from esr.engines.index import Hit
from esr.errors import EsrError
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.query_report import QueryReport, report_query
from esr.ranking.searcher import Searcher
from webui.answers.entries import Entry
from webui.answers.ranked_answer import rank_and_arrange
from webui.arguments.search_request import SearchRequest
from webui.pages.answer_counts import AnswerCounts, count_answer
from webui.pages.evidence_bars import EvidenceBars, evidence_bars
from webui.pages.facets import FacetList, count_facets
from webui.pages.reasons import Reasons, describe_hits, share_of_best
from webui.pages.understanding import Understanding, describe_understanding
from webui.running.settings import Settings

GROUP_SENTENCES = 3
"""Sentences shown of each document, where the sentences of a document are grouped."""


@dataclass(frozen=True)
class Results:
    """What a page of results shows. `next_k`: how many sentences "Show more" requests, or None.

    `reasons` and `shares` say by sentence id why it is in the list, and its share of the best's evidence.
    `terms` are what to mark in sentences.
    """

    answer: Answer
    entries: Sequence[Entry]
    facets: Sequence[FacetList]
    bars: EvidenceBars
    reasons: Reasons
    shares: Mapping[str, int | None]
    next_k: int | None
    terms: Collection[str]
    report: QueryReport
    counts: AnswerCounts
    understanding: Understanding

    @property
    def unseen(self) -> Sequence[str]:
        """Words of the query that no document contains, less those that have suggestions."""
        return self.report.without_suggestions(self.answer.unseen)

    @property
    def folded(self) -> int:
        """How many sentences are folded away."""
        return sum(len(hit.similar) for entry in self.entries for hit in entry.folded)


def find_results(searcher: Searcher, search: SearchRequest, settings: Settings) -> Results:
    """The results of a search. Raises RequestError."""
    answer, prepared, entries, has_more = rank_and_arrange(searcher.snapshot(), search, search.k, settings)
    next_k = min(search.k + settings.more_k, settings.max_k) if search.k < settings.max_k else None
    listed = entries[: search.k]
    best = [folded.hit for entry in listed for folded in entry.folded[:GROUP_SENTENCES]]
    report = report_query(prepared, search.filters)
    by_date = search.arrangement.sort == "date" or search.arrangement.novel
    bars = _bars(prepared, best)
    return Results(
        answer,
        listed,
        count_facets(prepared, search.filters, search.facet),
        bars,
        describe_hits(best, prepared.interpretation.counts, prepared.index.analyzer),
        {} if by_date else {hit.sentence_id: share_of_best(bars, hit.sentence_id) for hit in best},
        next_k if has_more else None,
        prepared.counts,
        report,
        count_answer(answer, prepared, report, by_date),
        describe_understanding(search, report),
    )


def listed_hits(
    searcher: Searcher, search: SearchRequest, settings: Settings
) -> tuple[Sequence[Hit], str | None]:
    """The sentences that the page lists, for a file, and what is missing from them."""
    answer, _, entries, _ = rank_and_arrange(searcher.snapshot(), search, search.k, settings)
    hits = [folded.hit for entry in entries[: search.k] for folded in entry.folded]
    return hits, answer.incomplete


def _bars(prepared: PreparedQuery, hits: Sequence[Hit]) -> EvidenceBars:
    try:
        return evidence_bars(prepared, hits)
    except EsrError:  # a picture beside an answer is not worth an error
        return {}
