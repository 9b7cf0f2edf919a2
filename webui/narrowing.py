"""What an answer can be narrowed by: sources, months and entities with their counts, and what is already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from esr.documents import dates
from esr.engines.entities import TYPES
from esr.engines.index import FACETS, Filters, Index
from esr.errors import EsrError
from esr.plans.plan import Plan

SHOWN = 8
LABELS = {
    "source": "Sources",
    "month": "Months",
    "person": "People",
    "location": "Places",
    "organization": "Organizations",
}


@dataclass(frozen=True)
class Value:
    """A value that candidates have, as arguments of the address. `chosen`: it is filtered by."""

    name: str
    arguments: Mapping[str, str]
    count: int
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """The most frequent values of a field."""

    field: str
    label: str
    values: Sequence[Value]


def facets(index: Index, plan: Plan, filters: Filters) -> list[Facet]:
    """A facet a field, without those that have no value. None at all if the engine has no counts.

    A field is counted without its own filter: of its values one is enough, so others can be added.
    """
    asked = {field: replace(filters, **_OWN.get(field, {"entities": ()})) for field in FACETS}
    try:
        found = index.facets(plan, asked, SHOWN)
    except EsrError:  # counts beside an answer are not worth an error
        return []
    return [_facet(filters, field, counts) for field, counts in found.items() if counts]


def arguments(field: str, name: str) -> dict[str, str]:
    """The arguments that filter by a value of a field."""
    if field == "month":
        return {"from": name, "to": name}
    return {"entity": f"{field}:{name}"} if field in TYPES else {field: name}


def _facet(filters: Filters, field: str, counts: Sequence[tuple[str, int]]) -> Facet:
    values = [Value(name, arguments(field, name), n, _chosen(filters, field, name)) for name, n in counts]
    if field == "month":  # read in their order, newest first
        values.sort(key=_name, reverse=True)
    return Facet(field, LABELS[field], values)


_OWN: dict[str, dict[str, Any]] = {
    "source": {"sources": ()},
    "month": {"date_from": None, "date_to": None},
}


def _name(value: Value) -> str:
    return value.name


def _chosen(filters: Filters, field: str, name: str) -> bool:
    if field == "source":
        return name in filters.sources
    if field == "month":
        month = dates.parse_date_start(name), dates.parse_date_end(name)
        return (filters.date_from, filters.date_to) == month
    return f"{field}:{name}" in filters.entities or name in filters.entities
