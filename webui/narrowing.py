"""What an answer can be narrowed by: sources and entities with their counts, and what is narrowed already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from esr.engines.entities import TYPES
from esr.engines.index import FACETS, Filters, Index
from esr.errors import EsrError
from esr.plans.plan import Plan

SHOWN = 8
LABELS = {"source": "Sources", "person": "People", "location": "Places", "organization": "Organizations"}


@dataclass(frozen=True)
class Value:
    """A value that candidates have, as an argument of the address. `chosen`: it is filtered by."""

    name: str
    argument: str
    value: str
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
    try:
        made = [_facet(index, plan, filters, field) for field in FACETS]
    except EsrError:  # counts beside an answer are not worth an error
        return []
    return [facet for facet in made if facet.values]


def argument(field: str, name: str) -> tuple[str, str]:
    """The argument that filters by a value of a field."""
    return ("entity", f"{field}:{name}") if field in TYPES else (field, name)


def _facet(index: Index, plan: Plan, filters: Filters, field: str) -> Facet:
    wider = replace(filters, entities=()) if field in TYPES else replace(filters, sources=())
    values = []
    for name, count in index.facets(plan, wider, field, SHOWN):
        given, value = argument(field, name)
        chosen = name in filters.sources if field == "source" else _names(filters, field, name)
        values.append(Value(name, given, value, count, chosen))
    return Facet(field, LABELS[field], values)


def _names(filters: Filters, field: str, name: str) -> bool:
    return f"{field}:{name}" in filters.entities or name in filters.entities
