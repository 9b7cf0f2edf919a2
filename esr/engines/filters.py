"""What restricts a search, and what its candidates can be counted by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from esr.engines.entities import ENTITY_TYPES

FACET_FIELDS = ("source", "month", *ENTITY_TYPES)
"""The document's source, its month (2017-02, in UTC), and the names in the sentence by type."""

FacetCounts = list[tuple[str, int]]
"""Values of a field, and how many candidates have each."""
DAY = 86_400_000
"""Milliseconds of a day."""
DayCounts = Mapping[int, int]
"""Days since 1970-01-01 in UTC, and how many sentences there are of each."""


@dataclass(frozen=True, slots=True)
class Filters:
    """The conditions that every hit satisfies. Dates are milliseconds since the epoch, both ends included.

    A hit needs one of several sources, documents or entities. A source may be written in any case. An entity
    is `person:Barack Obama`, or `Barack Obama` for any type: a name of which the sentence itself has a form.
    """

    date_from: int | None = None
    date_to: int | None = None
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != NO_FILTERS


NO_FILTERS = Filters()
