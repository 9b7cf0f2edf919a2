"""Facets: the values of fields in the rail of the results page.

A field is counted without its own filter, so that other values can be chosen. The number beside a value
is what a click on it gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from esr.arguments.filters import METADATA_FILTERS
from esr.errors import EsrError
from esr.index.contract import Index
from esr.index.filters import FACET_FIELDS, Filters
from esr.index.names import ENTITY_TYPES, entity_key, name_key, parse_name_filter
from esr.plans.plan import Condition, Not, all_of
from esr.query import ParsedQuery
from esr.ranking.prepared_query import PreparedQuery
from esr.text.attributes import META, META_PREFIX, is_attribute, value_key
from esr.text.sentence_enrichment import LOCATION
from webui.answers.counts import ValueCounts, count_values
from webui.pages.wording import name_language
from webui.translations.language import N_

FIELDS = tuple(field for field in FACET_FIELDS if field != "month")
"""The fields that the rail lists, before those of `METADATA_FILTERS`. Months are in the chart."""
VALUES, MORE_VALUES = 6, 60
"""Numbers of values shown of each facet, and of the one listed at length."""
LABELS = {
    "source": N_("Sources"),
    "language": N_("Languages"),
    "author": N_("Authors"),
    "section": N_("Sections"),
    "keyword": N_("Keywords"),
    "person": N_("People"),
    "location": N_("Places"),
    "organization": N_("Organizations"),
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

    `argument`: the name of the argument that filters by the field; empty if it is `meta`.
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
    words. Keys of the metadata without a filter of their own are included if the filters name them. Empty if
    the engine gives no counts.
    """
    index, condition = prepared.index, prepared.all_words if by_date else prepared.matching
    of_keys = [name for wanted in filters.attributes for name in wanted.names if name not in FACET_FIELDS]
    fields = list(
        dict.fromkeys((*FIELDS, *METADATA_FILTERS, *of_keys, *([long] if long and long != "month" else [])))
    )
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
    read = [_in_query(facet, parsed) if facet.field == "language" else facet for facet in lists]
    return [facet for facet in read if facet.field != "language" or _is_choice(facet)]


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
    if row := METADATA_FILTERS.get(field):
        return {row.name: name}
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
    is_name, row = field in ENTITY_TYPES, METADATA_FILTERS.get(field)
    return FacetList(
        field,
        row.label if row else LABELS.get(field, field.removeprefix(META_PREFIX)),
        values,
        has_more,
        is_long,
        "entity" if is_name else row.name if row else field if not field.startswith(META_PREFIX) else "",
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
    return any(name_key(name) == selected.key and selected.type in (None, field) for selected in wanted)
