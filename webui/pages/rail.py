"""The rail of filters beside the results: a chart of dates, and the values of fields with their counts.

All counts are of the sentences that match the query. A field is counted without its own filter, so that
other values and other dates can be chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

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
from esr.index.filters import FACET_FIELDS, DayCounts, Filters
from esr.index.names import ENTITY_TYPES, entity_key, name_key, parse_name_filter
from esr.plans.plan import Condition, HasTerm, all_of, any_of
from esr.query import ParsedQuery
from esr.ranking.prepared_query import PreparedQuery
from esr.text.document import LOCATION, META, META_PREFIX, is_attribute, value_key
from esr.text.sentences import name_language
from webui.answers.lists import ValueCounts, count_values

# Values of fields

FIELDS = tuple(field for field in FACET_FIELDS if field != "month")
"""The fields that the rail lists. The chart has the months."""
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
"""What a value in quotes cannot contain."""


@dataclass(frozen=True)
class FacetValue:
    """A value, the arguments that filter by it, and its count. `is_selected`: the search filters by it.

    `clause`: what the query language calls it, to exclude it; empty if it cannot. `label`: what it is called
    on the page.
    """

    name: str
    arguments: Mapping[str, str]
    count: int
    is_selected: bool
    clause: str
    label: str


@dataclass(frozen=True)
class FacetList:
    """The most frequent values of a field. `is_long`: the page lists this field at length.

    `argument`: the name of the argument that filters by the field, empty for keys of the metadata.
    `type`: the type of its names.
    """

    field: str
    label: str
    values: Sequence[FacetValue]
    has_more: bool
    is_long: bool
    argument: str
    type: str


def count_facets(prepared: PreparedQuery, filters: Filters, long: str | None = None) -> list[FacetList]:
    """A list for each field that has values, at length for the field `long`.

    Keys of the metadata are included if the filters name them. Empty if the engine gives no counts.
    """
    of_keys = [name for wanted in filters.attributes for name in wanted.names if name not in FACET_FIELDS]
    fields = list(dict.fromkeys((*FIELDS, *of_keys, *([long] if long and long != "month" else []))))
    short = [field for field in fields if field != long]
    try:
        counted = count_values(prepared, filters, VALUES, short)
        if long in fields:
            place = fields.index(long)
            counted[place:place] = count_values(prepared, filters, MORE_VALUES, [long])
    except EsrError:  # an answer without facets is better than an error
        return []
    lists = [_facet_list(filters, counts, counts.field == long) for counts in counted if counts.values]
    parsed = prepared.interpretation.parsed
    read = [_in_query(each, parsed) if each.field == "language" else each for each in lists]
    return [each for each in read if each.field != "language" or _is_choice(each)]


def _is_choice(facet: FacetList) -> bool:
    """Whether there is something to choose or to take back."""
    return len(facet.values) > 1 or any(value.is_selected for value in facet.values)


def _in_query(of_languages: FacetList, parsed: ParsedQuery) -> FacetList:
    """The list of a field that only the query can choose a value of. Its values change the query."""
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


def _facet_list(filters: Filters, counted: ValueCounts, is_long: bool) -> FacetList:
    field = counted.field
    values = [
        FacetValue(
            name,
            filter_arguments(field, name),
            count,
            _is_selected(filters, field, name),
            query_clause(field, name),
            name_language(name) if field == "language" else name,
        )
        for name, count in counted.values
    ]
    is_name = field in ENTITY_TYPES
    return FacetList(
        field,
        LABELS.get(field, field.removeprefix(META_PREFIX)),
        values,
        counted.has_more,
        is_long,
        "entity" if is_name else field if not field.startswith(META_PREFIX) else "",
        field if is_name else "",
    )


def query_clause(field: str, name: str) -> str:
    """What a query calls a value, as in source:"BBC News"; empty if it cannot."""
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
"""Most bars of the chart, which is narrow."""


@dataclass(frozen=True)
class Dates:
    """The chart of dates. `picked`: the periods that the search is limited to; empty if to none.

    `ends`: the months, or years, of its ends for readers: one if both are the same.
    """

    timeline: Timeline
    picked: frozenset[str]
    ends: tuple[str, ...]


def count_dates(prepared: PreparedQuery, filters: Filters) -> Dates | None:
    """The sentences that match the query by period; None without dates, or if the engine gives no counts."""
    try:
        (days,) = prepared.index.count_days([_matching(prepared)], filters.without_field("month"))
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
    """The timeline of counts of days, at least one, by the finest period that a narrow chart has room for."""
    first, last = min(days), max(days)
    intervals = INTERVALS[INTERVALS.index(finest) :]
    fine = (each for each in intervals if period_of(last, each) - period_of(first, each) < MOST_PERIODS)
    interval: Interval = next(fine, INTERVALS[-1])
    counts = count_periods(days, interval)
    numbers = range(period_of(first, interval), period_of(last, interval) + 1)
    names = [name_of(number, interval) for number in numbers]
    return Timeline(interval, names, [], [Series("", [counts.get(n, 0) for n in numbers], 0, [])])


def _is_picked(filters: Filters, start: int, end: int) -> bool:
    """Whether not all of the period is filtered out."""
    first, last = filters.date_from, filters.date_to
    return (first is None or first <= end) and (last is None or last >= start)


def _matching(prepared: PreparedQuery) -> Condition | None:
    """The condition that the candidates of facets satisfy."""
    plan = prepared.matching_plan
    words = [any_of(map(HasTerm, plan.candidate_terms))] if plan.candidates == "matching" else []
    return all_of([*words, *([] if plan.condition is None else [plan.condition])])
