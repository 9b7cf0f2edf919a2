"""The page of results: entries, the reason for each, evidence bars, how the query was read, and facets.

The page says how many sentences match the query, apart from how many are candidates: a ranking with context
also ranks sentences without a word of the query that stand near one. Reasons are in words; the arithmetic is
on the page that explains a score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from esr.errors import EsrError
from esr.index.filters import FACET_FIELDS, Filters
from esr.index.hits import Hit
from esr.index.names import ENTITY_TYPES, entity_key, name_key, parse_name_filter
from esr.query import ParsedQuery
from esr.query.interpretation import ReadGroup, Reading
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.query_report import QueryReport, report_query
from esr.ranking.reasons import describe_match
from esr.ranking.searcher import Searcher
from esr.text import dates
from esr.text.analyzer import Analyzer
from esr.text.document import META, META_PREFIX, is_attribute, value_key
from webui.answers.lists import Entry, ValueCounts, count_values, rank_and_arrange
from webui.arguments.request import SearchRequest
from webui.pages.bars import EVIDENCE_BAR_WIDTH, EvidenceBars, evidence_bars
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


def share_of_best(bars: EvidenceBars, sentence_id: str) -> int | None:
    """The evidence for a sentence in percent of that for the first hit; None without a bar."""
    segments = bars.get(sentence_id)
    return round(100 * sum(segment.width for segment in segments) / EVIDENCE_BAR_WIDTH) if segments else None


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


# Facets

VALUES, MORE_VALUES = 8, 60
"""Numbers of values shown of each facet, and of the one listed at length."""
LABELS = {
    "source": "Sources",
    "month": "Months",
    "author": "Authors",
    "section": "Sections",
    "keyword": "Keywords",
    "person": "People",
    "location": "Places",
    "organization": "Organizations",
}


@dataclass(frozen=True)
class FacetValue:
    """A value, the arguments that filter by it, and its count. `is_selected`: the search filters by it."""

    name: str
    arguments: Mapping[str, str]
    count: int
    is_selected: bool


@dataclass(frozen=True)
class FacetList:
    """The most frequent values of a field. `is_long`: the page lists this field at length."""

    field: str
    label: str
    values: Sequence[FacetValue]
    has_more: bool
    is_long: bool


def count_facets(prepared: PreparedQuery, filters: Filters, long: str | None = None) -> list[FacetList]:
    """A list for each field that has values, at length for the field `long`.

    Keys of the metadata are included if the filters name them. Empty if the engine gives no counts.
    """
    of_keys = [name for wanted in filters.attributes for name in wanted.names if name not in FACET_FIELDS]
    fields = list(dict.fromkeys((*FACET_FIELDS, *of_keys, *([] if long is None else [long]))))
    short = [field for field in fields if field != long]
    try:
        counted = count_values(prepared, filters, VALUES, short)
        if long is not None:
            place = fields.index(long)
            counted[place:place] = count_values(prepared, filters, MORE_VALUES, [long])
    except EsrError:  # an answer without facets is better than an error
        return []
    return [_facet_list(filters, counts, counts.field == long) for counts in counted if counts.values]


def filter_arguments(field: str, name: str) -> dict[str, str]:
    """The arguments that filter by a value of a field."""
    if field == "month":
        return {"from": name, "to": name}
    if field.startswith(META_PREFIX):
        return {META: f"{field.removeprefix(META_PREFIX)}={name}"}
    return {"entity": entity_key(field, name)} if field in ENTITY_TYPES else {field: name}


def _facet_list(filters: Filters, counted: ValueCounts, is_long: bool) -> FacetList:
    field = counted.field
    values = [
        FacetValue(name, filter_arguments(field, name), count, _is_selected(filters, field, name))
        for name, count in counted.values
    ]
    if field == "month":  # months in order, newest first
        values.sort(key=_name, reverse=True)
    return FacetList(
        field, LABELS.get(field, field.removeprefix(META_PREFIX)), values, counted.has_more, is_long
    )


def _name(value: FacetValue) -> str:
    return value.name


def _is_selected(filters: Filters, field: str, name: str) -> bool:
    if field == "source":
        return value_key(name) in map(value_key, filters.sources)
    if field == "month":
        return (filters.date_from, filters.date_to) == (
            dates.parse_date_start(name),
            dates.parse_date_end(name),
        )
    if is_attribute(field):
        return value_key(name) in map(value_key, filters.attribute_values(field))
    wanted = map(parse_name_filter, filters.entities)
    return any(name_key(name) == one.key and one.type in (None, field) for one in wanted)


# The page

GROUP_SENTENCES = 3
"""Sentences shown of each document when sentences are grouped by document."""


@dataclass(frozen=True)
class Results:
    """The content of a page of results.

    `reasons`: why each sentence is listed, by sentence id. `shares`: its evidence in percent of the first
    hit's. `next_k`: how many sentences "Show more" requests, or None. `terms`: the terms to mark in
    sentences.
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
    def folded(self) -> int:
        """Number of sentences folded into others."""
        return sum(len(each.similar) for entry in self.entries for each in entry.passages)


def find_results(searcher: Searcher, search: SearchRequest, settings: Settings) -> Results:
    """The results of a search. Raises RequestError."""
    answer, prepared, entries, has_more = rank_and_arrange(searcher.snapshot(), search, search.k, settings)
    next_k = min(search.k + settings.more_k, settings.max_k) if search.k < settings.max_k else None
    listed = entries[: search.k]
    best = [each.best for entry in listed for each in entry.passages[:GROUP_SENTENCES]]
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


def _bars(prepared: PreparedQuery, hits: Sequence[Hit]) -> EvidenceBars:
    try:
        return evidence_bars(prepared, hits)
    except EsrError:  # an answer without bars is better than an error
        return {}
