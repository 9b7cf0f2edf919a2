"""The page of results: entries, the reason for each, how the query was read, and the rail of filters.

The page counts the sentences that match the query, not the candidates: a ranking with context also ranks
sentences whose neighbours have a word of the query. Reasons are in words; the page that explains a score has
the arithmetic. The rail has a chart of dates, and the values of fields. A field is counted without its own
filter, so that other values and dates can be chosen; a number beside a value is what a click on it gives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal, NamedTuple

from esr.corpus.names_and_quotes import Quotation
from esr.errors import EsrError
from esr.following.timeline import (
    INTERVALS,
    Interval,
    Series,
    Timeline,
    count_periods,
    date_range,
    name_of,
    period_of,
)
from esr.index.contract import Index, find_documents
from esr.index.filters import FACET_FIELDS, Filters
from esr.index.hits import Hit, SentenceRecord
from esr.index.names import ENTITY_TYPES, entity_key, name_key, parse_name_filter
from esr.index.questions import ByDay, DayCounts
from esr.plans.plan import Condition, Not, all_of
from esr.query import ParsedQuery
from esr.query.interpretation import ReadGroup, Reading
from esr.ranking.answers import describe_match, require_record
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.query_report import QueryReport, report_query
from esr.ranking.searcher import Searcher
from esr.text.analyzer import Analyzer
from esr.text.attributes import META, META_PREFIX, is_attribute, value_key
from esr.text.languages import name_language
from esr.text.sentence_enrichment import LOCATION
from webui.answers.lists import Entry, ValueCounts, count_values, prepare_search, rank_and_arrange
from webui.arguments.request import SearchRequest
from webui.running.gate import start_beside
from webui.running.settings import Settings

# Values of fields

FIELDS = tuple(field for field in FACET_FIELDS if field != "month")
"""The fields that the rail lists. Months are in the chart."""
VALUES, MORE_VALUES = 6, 60
"""Numbers of values shown of each facet, and of the one listed at length."""
LABELS = {
    "source": "Sources",
    "language": "Languages",
    "author": "Authors",
    "section": "Sections",
    "keyword": "Keywords",
    "person": "People",
    "location": "Places",
    "organization": "Organizations",
}
_QUERY_FIELDS = {LOCATION: "place"}
"""The fields of the query language whose names differ from those of facets."""
_QUOTES = '"“”„＂\n'
"""The characters that a quoted value cannot contain."""


@dataclass(frozen=True)
class FacetValue:
    """A value, the arguments that filter by it, and its count. `is_selected`: the search filters by it.

    `count`: the sentences that the value gives if it is chosen. `is_added`: it is chosen beside others, and
    gives so many sentences more.

    `clause`: the clause of the query language for it, to exclude it; empty if there is none. `label`: its
    text on the page.
    """

    name: str
    arguments: Mapping[str, str]
    count: int
    is_selected: bool
    clause: str
    label: str
    is_added: bool = False


@dataclass(frozen=True)
class FacetList:
    """The most frequent values of a field. `is_long`: whether the page lists this field at length.

    `argument`: the name of the argument that filters by the field; empty for keys of the metadata.
    `type`: the type of its names.
    """

    field: str
    label: str
    values: Sequence[FacetValue]
    has_more: bool
    is_long: bool
    argument: str
    type: str


def count_facets(
    prepared: PreparedQuery, filters: Filters, long: str | None = None, by_date: bool = False
) -> list[FacetList]:
    """A list for each field that has values, at length for the field `long`.

    A count is what a click on the value gives: of the sentences that match, or `by_date` of those with all
    words. Keys of the metadata are included if the filters name them. Empty if the engine gives no counts.
    """
    index, condition = prepared.index, prepared.all_words if by_date else prepared.matching
    of_keys = [name for wanted in filters.attributes for name in wanted.names if name not in FACET_FIELDS]
    fields = list(dict.fromkeys((*FIELDS, *of_keys, *([long] if long and long != "month" else []))))
    short = [field for field in fields if field != long]
    try:
        counted = count_values(index, condition, filters, VALUES, short)
        if long in fields:
            place = fields.index(long)
            counted[place:place] = count_values(index, condition, filters, MORE_VALUES, [long])
        added = {
            field: _count_added(index, condition, filters, field, MORE_VALUES if field == long else VALUES)
            for field in fields
            if filters.condition_on(field) is not None
        }
    except EsrError:  # an answer without facets is better than an error
        return []
    lists = [
        _facet_list(filters, counts, counts.field == long, added.get(counts.field))
        for counts in counted
        if counts.values
    ]
    parsed = prepared.interpretation.parsed
    read = [_in_query(each, parsed) if each.field == "language" else each for each in lists]
    return [each for each in read if each.field != "language" or _is_choice(each)]


def _count_added(
    index: Index, condition: Condition | None, filters: Filters, field: str, size: int
) -> ValueCounts:
    """The values of a field in the sentences that have none of the values that its filters select."""
    selected = filters.condition_on(field)
    assert selected is not None
    others = None if condition is None else all_of([condition, Not(selected)])
    (counts,) = count_values(index, others, filters, size, [field])
    return counts


def _is_choice(facet: FacetList) -> bool:
    """Whether a value can be chosen or removed."""
    return len(facet.values) > 1 or any(value.is_selected for value in facet.values)


def _in_query(of_languages: FacetList, parsed: ParsedQuery) -> FacetList:
    """The list of a field without a filter argument: its values change the query instead."""
    groups = {
        clause.text.lower(): group
        for group in parsed.groups
        for clause in group.clauses
        if clause.field == of_languages.field and group.role != "excluded"
    }
    values = []
    for value in of_languages.values:
        clause, group = f"{of_languages.field}:{value.name}", groups.get(value.name)
        query = f"{parsed.text} {clause}" if group is None else parsed.without(group)
        values.append(replace(value, arguments={"q": query}, is_selected=group is not None, clause=clause))
    return replace(of_languages, values=values, argument="")


def filter_arguments(field: str, name: str) -> dict[str, str]:
    """The arguments that filter by a value of a field."""
    if field.startswith(META_PREFIX):
        return {META: f"{field.removeprefix(META_PREFIX)}={name}"}
    return {"entity": entity_key(field, name)} if field in ENTITY_TYPES else {field: name}


def _facet_list(
    filters: Filters, counted: ValueCounts, is_long: bool, added: ValueCounts | None
) -> FacetList:
    """The list of a field. `added`: what values add to those that are selected; None if none are."""
    field = counted.field

    def describe(name: str, count: int, is_added: bool) -> FacetValue:
        is_selected = _is_selected(filters, field, name)
        label = name_language(name) if field == "language" else name
        clause = query_clause(field, name)
        return FacetValue(
            name,
            filter_arguments(field, name),
            count,
            is_selected,
            clause,
            label,
            is_added and not is_selected,
        )

    values = [describe(name, count, False) for name, count in counted.values]
    has_more = counted.has_more
    if added is not None:
        order = {value.name: place for place, value in enumerate(values)}  # a click moves nothing
        others = [describe(name, count, True) for name, count in added.values]
        values = [value for value in values if value.is_selected] + [
            value for value in others if value.is_added
        ]
        values.sort(key=lambda value: order.get(value.name, len(order)))
        has_more = added.has_more
    is_name = field in ENTITY_TYPES
    return FacetList(
        field,
        LABELS.get(field, field.removeprefix(META_PREFIX)),
        values,
        has_more,
        is_long,
        "entity" if is_name else field if not field.startswith(META_PREFIX) else "",
        field if is_name else "",
    )


def query_clause(field: str, name: str) -> str:
    """The clause of a value, such as source:"BBC News"; empty if the query language has none."""
    clause = f'{_QUERY_FIELDS.get(field, field)}:"{name}"'
    return "" if any(quote in name for quote in _QUOTES) else clause


def _is_selected(filters: Filters, field: str, name: str) -> bool:
    if field == "source":
        return value_key(name) in map(value_key, filters.sources)
    if is_attribute(field):
        return value_key(name) in map(value_key, filters.attribute_values(field))
    if field not in ENTITY_TYPES:
        return False
    wanted = map(parse_name_filter, filters.entities)
    return any(name_key(name) == one.key and one.type in (None, field) for one in wanted)


# Dates

_EPOCH = date(1970, 1, 1)
MOST_PERIODS = 60
"""Maximum number of bars of the chart, which is narrow."""


@dataclass(frozen=True)
class Dates:
    """The chart of dates. `picked`: the periods that the search is limited to; empty without a limit.

    `ends`: the first and the last month, or year, for readers; one if both are equal.
    """

    timeline: Timeline
    picked: frozenset[str]
    ends: tuple[str, ...]


def count_dates(prepared: PreparedQuery, filters: Filters, by_date: bool = False) -> Dates | None:
    """The sentences that match the query by period; None without dates, or if the engine gives no counts.

    `by_date`: the sentences with all words.
    """
    condition = prepared.all_words if by_date else prepared.matching
    if condition is None:
        return None
    try:
        (days,) = prepared.index.count([condition], filters.without_field("month"), ByDay())
    except EsrError:  # as for facets
        return None
    return draw_dates(days, filters) if days else None


def draw_dates(days: DayCounts, filters: Filters) -> Dates:
    """The counts of days, at least one, by the finest period that the chart has room for."""
    timeline = draw_days(days)
    interval = timeline.interval
    first, last = min(days), max(days)
    numbers = range(period_of(first, interval), period_of(last, interval) + 1)
    has_filter = filters.date_from is not None or filters.date_to is not None
    picked = [
        name
        for name, number in zip(timeline.periods, numbers, strict=True)
        if has_filter and _is_picked(filters, *date_range(number, interval))
    ]
    form = "%Y" if interval == "year" else "%b %Y"
    ends = dict.fromkeys((_EPOCH + timedelta(days=day)).strftime(form) for day in (first, last))
    return Dates(timeline, frozenset(picked), tuple(ends))


def draw_days(days: DayCounts, finest: Interval = "day") -> Timeline:
    """The timeline of at least one day's counts, by the finest period that a narrow chart has room for."""
    first, last = min(days), max(days)
    intervals = INTERVALS[INTERVALS.index(finest) :]
    fine = (each for each in intervals if period_of(last, each) - period_of(first, each) < MOST_PERIODS)
    interval: Interval = next(fine, INTERVALS[-1])
    counts = count_periods(days, interval)
    numbers = range(period_of(first, interval), period_of(last, interval) + 1)
    names = [name_of(number, interval) for number in numbers]
    return Timeline(interval, names, [], [Series("", [counts.get(n, 0) for n in numbers], 0, [])])


def _is_picked(filters: Filters, start: int, end: int) -> bool:
    """Whether the filters let through any part of the period."""
    first, last = filters.date_from, filters.date_to
    return (first is None or first <= end) and (last is None or last >= start)


# Counts

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


# Reasons

Reasons = Mapping[str, str]
"""Reasons by sentence id."""


def describe_hits(hits: Sequence[Hit], terms: Collection[str], analyzer: Analyzer) -> Reasons:
    """The reason for each hit; empty without terms. `terms` are those of the query's words."""
    return {hit.sentence_id: describe_match(require_record(hit), terms, analyzer) for hit in hits if terms}


# Headings

HEADING_CHARS = 80
"""Length at which the first words of an article without a title are cut."""


def shorten_heading(text: str) -> str:
    """The first words of an article, which head it if it has no title."""
    text = " ".join(text.split())
    return text if len(text) <= HEADING_CHARS else text[:HEADING_CHARS].rsplit(" ", 1)[0] + " …"


def find_headings(index: Index, records: Iterable[SentenceRecord | Quotation]) -> dict[str, str]:
    """The first words of each document without a title, by document id. Reads only these documents."""
    untitled = {record.document_id for record in records if not record.title}
    documents = find_documents(index, untitled) if untitled else {}
    return {
        id: shorten_heading(document.sentences[0].text)
        for id, document in documents.items()
        if document.sentences
    }


# How the query was read

MAX_IGNORED, MAX_NOTES = 12, 5
"""Maximum numbers of ignored groups and notes to list: a pasted text has many stop words."""


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

    `more_ignored` and `more_notes` count those that are not listed. `has_syntax`: whether the query would
    have another meaning if it were read literally.
    """

    chips: Sequence[Chip]
    more_ignored: int
    notes: Sequence[PlacedNote]
    more_notes: int
    is_literal: bool
    requires_all: bool
    has_syntax: bool


def describe_understanding(search: SearchRequest, report: QueryReport) -> Understanding:
    """How a query was read; empty for plain words that are all searched for."""
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

    `reasons`: why each sentence is listed, by sentence id. `headings`: the headings of documents without a
    title, by document id. `next_k`: how many sentences "Show more" requests, or None. `terms`: the terms of
    `analyzer` to mark in sentences.
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
    by_date = search.arrangement.sort == "date" or search.arrangement.novel
    dates = start_beside(index, lambda: count_dates(prepared, filters, by_date))
    facets = start_beside(index, lambda: count_facets(prepared, filters, search.facet, by_date))
    answer, entries, has_more = rank_and_arrange(prepared, search, search.k, settings)
    next_k = min(search.k + settings.more_k, settings.max_k) if search.k < settings.max_k else None
    listed = entries[: search.k]
    best = [each.best for entry in listed for each in entry.passages[:GROUP_SENTENCES]]
    report = report_of()
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
