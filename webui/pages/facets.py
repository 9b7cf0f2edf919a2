"""Facets: the sources, months and entities that results can be narrowed to, with their counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from esr.documents import dates
from esr.engines.entities import ENTITY_TYPES
from esr.engines.index import FACET_FIELDS, Filters
from esr.errors import EsrError
from esr.ranking.searcher import PreparedQuery

VALUES = 8
"""Values shown of each facet."""
LABELS = {
    "source": "Sources",
    "month": "Months",
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
    """The most frequent values of a field."""

    field: str
    label: str
    values: Sequence[FacetValue]


def count_facets(prepared: PreparedQuery, filters: Filters) -> list[FacetList]:
    """A list for each field that has values. None at all if the engine gives no counts.

    What is counted are sentences that hold a word of the query themselves, and not those that stand near one.
    A field is counted without its own filter: a sentence needs only one of the field's values, so others can
    be added.
    """
    filters_of = {field: replace(filters, **_WITHOUT.get(field, {"entities": ()})) for field in FACET_FIELDS}
    try:
        counts_of = prepared.index.facets(prepared.matching_plan, filters_of, VALUES)
    except EsrError:  # counts beside an answer are not worth an error
        return []
    return [_facet_list(filters, field, counts) for field, counts in counts_of.items() if counts]


def filter_arguments(field: str, name: str) -> dict[str, str]:
    """The arguments that filter by a value of a field."""
    if field == "month":
        return {"from": name, "to": name}
    return {"entity": f"{field}:{name}"} if field in ENTITY_TYPES else {field: name}


def _facet_list(filters: Filters, field: str, counts: Sequence[tuple[str, int]]) -> FacetList:
    values = [
        FacetValue(name, filter_arguments(field, name), count, _is_selected(filters, field, name))
        for name, count in counts
    ]
    if field == "month":  # months are read in their order, newest first
        values.sort(key=_name, reverse=True)
    return FacetList(field, LABELS[field], values)


_WITHOUT: dict[str, dict[str, Any]] = {
    "source": {"sources": ()},
    "month": {"date_from": None, "date_to": None},
}
"""By field, what takes its own filter away; entities for the others."""


def _name(value: FacetValue) -> str:
    return value.name


def _is_selected(filters: Filters, field: str, name: str) -> bool:
    if field == "source":
        return name in filters.sources
    if field == "month":
        return (filters.date_from, filters.date_to) == (
            dates.parse_date_start(name),
            dates.parse_date_end(name),
        )
    return f"{field}:{name}" in filters.entities or name in filters.entities
