"""How many sentences with a word of the query have each value of a field, without that field's own filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from esr.documents.attributes import is_attribute
from esr.engines.index import FACET_FIELDS, Filters
from esr.ranking.prepared_query import PreparedQuery

_OWN_FILTER: dict[str, dict[str, Any]] = {
    "source": {"sources": ()},
    "month": {"date_from": None, "date_to": None},
}
"""By field, what takes its own filter away; for the others, the names do."""


def _without_own(filters: Filters, field: str) -> Filters:
    """The filters without that of the field itself."""
    if is_attribute(field):
        return filters.without_attribute(field)
    return replace(filters, **_OWN_FILTER.get(field, {"entities": ()}))


@dataclass(frozen=True)
class ValueCounts:
    """The most frequent values of a field. `has_more`: there are others."""

    field: str
    values: Sequence[tuple[str, int]]
    has_more: bool


def count_values(
    prepared: PreparedQuery, filters: Filters, size: int, fields: Iterable[str] = FACET_FIELDS
) -> list[ValueCounts]:
    """The values of each field. Raises EsrError where the engine gives no counts.

    What is counted are sentences that hold a word of the query themselves, and not those that stand near one.
    A field is counted without its own filter: a sentence needs only one of the field's values, so others can
    be added.
    """
    plan = prepared.matching_plan
    if not plan.terms and plan.candidates != "all":
        return [ValueCounts(field, (), False) for field in fields]
    filters_of = {field: _without_own(filters, field) for field in fields}
    counts = prepared.index.facets(plan, filters_of, size + 1)
    return [ValueCounts(field, values[:size], len(values) > size) for field, values in counts.items()]
