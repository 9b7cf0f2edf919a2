"""The page of results: entries, the reason for each, how the query was read, and the rail of filters.

The page says how many sentences match the query, apart from how many are candidates: a ranking with context
also ranks sentences without a word of the query that stand near one. Reasons are in words; the arithmetic is
on the page that explains a score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from esr.corpus.names_and_quotes import Quotation
from esr.index.contract import Index
from esr.index.hits import Hit, SentenceRecord
from esr.query import ParsedQuery
from esr.query.interpretation import ReadGroup, Reading
from esr.ranking.answers import require_record
from esr.ranking.passages import describe_match
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.query_report import QueryReport, report_query
from esr.ranking.searcher import Searcher
from esr.text.analyzer import Analyzer
from webui.answers.lists import Entry, prepare_search, rank_and_arrange
from webui.arguments.request import SearchRequest
from webui.pages.rail import Dates, FacetList, count_dates, count_facets
from webui.running.gate import start_beside
from webui.running.settings import Settings

# Counts

Match = Literal["conditions", "one word", "all words", "any word"]
"""What makes a sentence match: the conditions of the query, or the words it contains."""


class AnswerCounts(NamedTuple):
    """How many sentences match in the sense of `match`, hold all words, and are candidates (`ranked`).

    `matching` is None if it is unknown, `with_all` if it adds nothing.
    """

    match: Match
    matching: int | None
    with_all: int | None
    ranked: int


def count_answer(
    answer: Answer, prepared: PreparedQuery, report: QueryReport, by_date: bool = False
) -> AnswerCounts:
    """The counts of an answer. `by_date`: the answer lists all sentences that match, and no others."""
    if by_date:
        return AnswerCounts("all words", None, None, answer.total)
    all_words, any_word = report.counts
    matching = answer.total if prepared.interpretation.decides_candidates else any_word
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


# Reasons

Reasons = Mapping[str, str]
"""Reasons by sentence id."""


def describe_hits(hits: Sequence[Hit], terms: Collection[str], analyzer: Analyzer) -> Reasons:
    """The reason for each hit; empty without terms. `terms` are those of the query's own words."""
    return {hit.sentence_id: describe_match(require_record(hit), terms, analyzer) for hit in hits if terms}


# Headings

HEADING_CHARS = 80
"""Length at which the first words of an article without a title are cut."""


def shorten_heading(text: str) -> str:
    """The first words of an article, which head it if it has no title."""
    text = " ".join(text.split())
    return text if len(text) <= HEADING_CHARS else text[:HEADING_CHARS].rsplit(" ", 1)[0] + " …"


def find_headings(index: Index, records: Iterable[SentenceRecord | Quotation]) -> dict[str, str]:
    """The first words of each document without a title, by document id. Reads these documents alone."""
    untitled = {record.document_id for record in records if not record.title}
    documents = index.find_documents(untitled) if untitled else {}
    return {
        id: shorten_heading(document.sentences[0].text)
        for id, document in documents.items()
        if document.sentences
    }


# How the query was read

MAX_IGNORED, MAX_NOTES = 12, 5
"""Maximum numbers of ignored groups and notes to list. A pasted text has many stop words."""


class Chip(NamedTuple):
    """A group of the query, for removal. `query`: the query without it, or None if nothing is left."""

    reading: Reading
    label: str
    query: str | None


class PlacedNote(NamedTuple):
    """A note and the piece of the query it is about."""

    text: str
    message: str


@dataclass(frozen=True)
class Understanding:
    """How a query was read, as the page shows it.

    `more_ignored` and `more_notes` count those that are left out. `has_syntax`: whether the query would mean
    something else if it were read literally.
    """

    chips: Sequence[Chip]
    more_ignored: int
    notes: Sequence[PlacedNote]
    more_notes: int
    is_literal: bool
    requires_all: bool
    has_syntax: bool


def describe_understanding(search: SearchRequest, report: QueryReport) -> Understanding:
    """How a query was read. Empty for a query of plain words that are all searched for."""
    parsed = search.parsed
    marked = [g for g in report.groups if g.group.role != "wanted"]
    ignored = _distinct(g for g in report.groups if g.reading == "ignored" and g.group.role == "wanted")
    listed = [*marked, *ignored[:MAX_IGNORED]]
    notes = [PlacedNote(parsed.text[n.start : n.end], n.message) for n in report.notes]
    return Understanding(
        [_chip(parsed, group) for group in sorted(listed, key=_place)],
        len(ignored[MAX_IGNORED:]),
        notes[:MAX_NOTES],
        len(notes[MAX_NOTES:]),
        search.is_literal,
        search.require_all,
        bool(marked or notes),
    )


def _distinct(groups: Iterable[ReadGroup]) -> list[ReadGroup]:
    """The first group of each label."""
    by_label: dict[str, ReadGroup] = {}
    for group in groups:
        by_label.setdefault(group.label, group)
    return list(by_label.values())


def _chip(parsed: ParsedQuery, group: ReadGroup) -> Chip:
    return Chip(group.reading, group.label, parsed.without(group.group) or None)


_ORDER: tuple[Reading, ...] = ("required", "excluded", "ignored")


def _place(group: ReadGroup) -> tuple[int, int]:
    """Sort key: required groups first, then excluded, then ignored ones."""
    return _ORDER.index(group.reading), group.group.start


# The page

GROUP_SENTENCES = 3
"""Sentences shown of each document when sentences are grouped by document."""


@dataclass(frozen=True)
class Results:
    """The content of a page of results.

    `reasons`: why each sentence is listed, by sentence id. `headings`: what heads documents without a title,
    by document id. `next_k`: how many sentences "Show more" requests, or None. `terms`: the terms to mark in
    sentences, which `analyzer` makes.
    """

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

    @property
    def folded(self) -> int:
        """Number of sentences folded into others."""
        return sum(len(each.similar) for entry in self.entries for each in entry.passages)


def find_results(searcher: Searcher, search: SearchRequest, settings: Settings) -> Results:
    """The results of a search. Raises RequestError."""
    return searcher.index.on_latest(
        lambda index: _find_results(Searcher(index, owns_index=False), search, settings)
    )


def _find_results(searcher: Searcher, search: SearchRequest, settings: Settings) -> Results:
    prepared = prepare_search(searcher, search, settings)
    index, filters = prepared.index, search.filters
    report_of = start_beside(index, lambda: report_query(prepared, filters))
    dates = start_beside(index, lambda: count_dates(prepared, filters))
    facets = start_beside(index, lambda: count_facets(prepared, filters, search.facet))
    answer, entries, has_more = rank_and_arrange(prepared, search, search.k, settings)
    next_k = min(search.k + settings.more_k, settings.max_k) if search.k < settings.max_k else None
    listed = entries[: search.k]
    best = [each.best for entry in listed for each in entry.passages[:GROUP_SENTENCES]]
    report = report_of()
    by_date = search.arrangement.sort == "date" or search.arrangement.novel
    shown = [hit for entry in listed for each in entry.passages for hit in (each.best, *each.similar)]
    return Results(
        answer,
        listed,
        dates(),
        facets(),
        describe_hits(best, prepared.interpretation.counts, index.analyzer),
        find_headings(index, map(require_record, shown)),
        next_k if has_more else None,
        prepared.counts,
        index.analyzer,
        report,
        count_answer(answer, prepared, report, by_date),
        describe_understanding(search, report),
    )
