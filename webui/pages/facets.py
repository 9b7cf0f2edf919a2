"""Facets: the sources, months, attributes and entities that results can be narrowed to, with their counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from esr.documents import dates
from esr.documents.attributes import META, META_PREFIX, is_attribute, value_key
from esr.engines.entities import ENTITY_TYPES, entity_key
from esr.engines.index import FACET_FIELDS, Filters
from esr.engines.keys import name_key
from esr.engines.names import parse_name_filter
from esr.errors import EsrError
from esr.ranking.prepared_query import PreparedQuery
from webui.answers.facet_counts import ValueCounts, count_values

VALUES, MORE_VALUES = 8, 60
"""Values shown of each facet, and of the one that the page lists at length."""
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
    """A value that candidates have, and the arguments that filter by it. `is_selected`: they do."""

    name: str
    arguments: Mapping[str, str]
    count: int
    is_selected: bool


@dataclass(frozen=True)
class FacetList:
    """The most frequent values of a field. `is_long`: this is the field that the page lists at length."""

    field: str
    label: str
    values: Sequence[FacetValue]
    has_more: bool
    is_long: bool


def count_facets(prepared: PreparedQuery, filters: Filters, long: str | None = None) -> list[FacetList]:
    """A list for each field that has values, at length for the field `long`.

    The keys of metadata that the filters name are such fields. No list at all if the engine gives no counts.
    """
    of_keys = [name for wanted in filters.attributes for name in wanted.names if name not in FACET_FIELDS]
    fields = list(dict.fromkeys((*FACET_FIELDS, *of_keys, *([] if long is None else [long]))))
    short = [field for field in fields if field != long]
    try:
        counted = count_values(prepared, filters, VALUES, short)
        if long is not None:
            place = fields.index(long)
            counted[place:place] = count_values(prepared, filters, MORE_VALUES, [long])
    except EsrError:  # counts beside an answer are not worth an error
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
    if field == "month":  # months are read in their order, newest first
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
