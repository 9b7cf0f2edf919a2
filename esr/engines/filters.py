"""What restricts a search, and what its candidates can be counted by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from esr.documents.attributes import ATTRIBUTES, META_PREFIX, value_key
from esr.engines.entities import ENTITY_TYPES
from esr.errors import UsageError
from esr.plans.condition import HasAttribute

FACET_FIELDS = ("source", "month", *ATTRIBUTES, *ENTITY_TYPES)
"""The document's source, its month (2017-02, in UTC), its attributes, and the names in the sentence by type.

The keys of the metadata can be counted too: `meta.desk`.
"""

FacetCounts = list[tuple[str, int]]
"""Values of a field, and how many candidates have each."""
DAY = 86_400_000
"""Milliseconds of a day."""
DayCounts = Mapping[int, int]
"""Days since 1970-01-01 in UTC, and how many sentences there are of each."""


class Filters(Struct, frozen=True):
    """The conditions that every hit satisfies. Dates are milliseconds since the epoch, both ends included.

    A hit needs one of several sources, documents or entities, and satisfies each of `attributes`. Sources and
    attributes may be written in any case. An entity is `person:Barack Obama`, or `Barack Obama` for any type:
    a name of which the sentence itself has a form.
    """

    date_from: int | None = None
    date_to: int | None = None
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    attributes: tuple[HasAttribute, ...] = ()

    def __bool__(self) -> bool:
        return self is not NO_FILTERS and self != NO_FILTERS

    def attribute_values(self, name: str) -> tuple[str, ...]:
        """The values that are wanted of an attribute."""
        return tuple(v for wanted in self.attributes if wanted.names == (name,) for v in wanted.values)

    def without_attribute(self, name: str) -> Filters:
        """The same without the filter on one attribute."""
        return replace(self, attributes=tuple(one for one in self.attributes if one.names != (name,)))


def build_attribute_filters(
    values: Mapping[str, Sequence[str]], metadata: Iterable[str]
) -> tuple[HasAttribute, ...]:
    """The filters on attributes: the values of each by its name, and pairs `desk=Berlin` of metadata.

    Raises UsageError for something else than a pair.
    """
    by_name = {name: list(of_name) for name, of_name in values.items() if of_name}
    for pair in metadata:
        key, _, value = pair.partition("=")
        if not key.strip() or not value.strip():
            raise UsageError(f"metadata is filtered by KEY=VALUE, such as desk=Berlin, not {pair!r}")
        name = META_PREFIX + key.strip()
        name = next((known for known in by_name if value_key(known) == value_key(name)), name)
        by_name.setdefault(name, []).append(value)
    return tuple(HasAttribute((name,), tuple(of_name)) for name, of_name in by_name.items())


def can_be_counted(field: str) -> bool:
    """Whether candidates can be counted by a field."""
    return field in FACET_FIELDS or field.startswith(META_PREFIX)


NO_FILTERS = Filters()
