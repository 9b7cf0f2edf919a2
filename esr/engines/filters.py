"""What restricts a search, and what its candidates can be counted by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from operator import index
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from esr.documents.attributes import ATTRIBUTES, META, META_PREFIX, is_attribute, value_key
from esr.documents.dates import parse_date_end, parse_date_start
from esr.engines.entities import ENTITY_TYPES
from esr.errors import UsageError, unknown
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
Moment = int | str | date
"""Milliseconds since the epoch, an ISO 8601 date such as "2024-01", or a date or datetime, which is in UTC if
it has no zone."""
Texts = str | Iterable[str]
"""One text, or several."""


class Filters(Struct, frozen=True):
    """The conditions that every hit satisfies. Dates are milliseconds since the epoch, both ends included.

    A hit needs one of several sources, documents or entities, and satisfies each of `attributes`. Sources and
    attributes may be written in any case. An entity is `person:Barack Obama`, or `Barack Obama` for any type:
    a name of which the sentence itself has a form.

    All may be given as people write them: dates as `Moment`, with the whole of a month or day; one value in
    place of several; attributes as a mapping such as `{"author": "Ann Lee", "meta.desk": "Berlin"}`. Raises
    UsageError for anything else.
    """

    date_from: int | None = None
    date_to: int | None = None
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    attributes: tuple[HasAttribute, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            date_from: Moment | None = None,
            date_to: Moment | None = None,
            sources: Texts | None = (),
            documents: Texts | None = (),
            entities: Texts | None = (),
            attributes: HasAttribute | Iterable[HasAttribute] | Mapping[str, Texts] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        for name, parse in (("date_from", parse_date_start), ("date_to", parse_date_end)):
            force_setattr(self, name, _read_moment(name, getattr(self, name), parse))
        for name in ("sources", "documents", "entities"):
            force_setattr(self, name, _read_texts(name, getattr(self, name)))
        force_setattr(self, "attributes", _read_attributes(self.attributes))
        if self.date_from is not None and self.date_to is not None and self.date_from > self.date_to:
            raise UsageError("the first day is after the last: swap them")

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


def read_filters(filters: Filters | Mapping[str, Any] | None) -> Filters:
    """Filters, also of a mapping by the names that the command line has: `{"source": "BBC", "from": "2024"}`.

    Raises UsageError for anything else.
    """
    if isinstance(filters, Filters):
        return filters
    if filters is None:
        return NO_FILTERS
    if not isinstance(filters, Mapping):
        example = "{'source': 'BBC', 'from': '2024-01'}"
        raise UsageError(f"filters are Filters or a mapping such as {example}, not {filters!r}")
    for name in filters:
        if name not in _NAMES:
            raise unknown("filter", str(name), _NAMES)
    values = {
        name: _read_texts(f"filter {name!r}", filters.get(name))
        for name in ("source", "document", "entity", META, *ATTRIBUTES)
    }
    return Filters(
        _read_moment("filter 'from'", filters.get("from"), parse_date_start),
        _read_moment("filter 'to'", filters.get("to"), parse_date_end),
        values["source"],
        values["document"],
        values["entity"],
        build_attribute_filters({name: values[name] for name in ATTRIBUTES}, values[META]),
    )


def _read_moment(name: str, value: Any, parse: Callable[[str], int]) -> int | None:
    if value is None or type(value) is int:
        return value
    try:
        if isinstance(value, str | date):
            return parse(value if isinstance(value, str) else value.isoformat())
        if not isinstance(value, bool):
            return index(value)
    except (TypeError, ValueError):
        pass
    raise UsageError(f"{name} is a date such as '2024-01-31', not {value!r}")


def _read_texts(name: str, value: Any) -> tuple[str, ...]:
    texts = value
    if value is None or isinstance(value, str):
        texts = () if value is None else (value,)
    elif isinstance(value, Iterable) and not isinstance(value, Mapping):
        texts = tuple(value)
    if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{name} is a text or several, not {value!r}")
    return texts


def _read_attributes(value: Any) -> tuple[HasAttribute, ...]:
    if isinstance(value, Mapping):
        for name in value:
            if not is_attribute(name):
                raise unknown("attribute", str(name), (*ATTRIBUTES, f"{META_PREFIX}KEY"))
        return build_attribute_filters(
            {name: _read_texts(name, of_name) for name, of_name in value.items()}, ()
        )
    attributes = (value,) if isinstance(value, HasAttribute) else value
    if isinstance(attributes, Iterable):
        attributes = tuple(attributes)
        if all(isinstance(one, HasAttribute) for one in attributes):
            return attributes
    raise UsageError(f"attributes is a mapping such as {{'author': 'Ann Lee'}}, not {value!r}")


def can_be_counted(field: str) -> bool:
    """Whether candidates can be counted by a field."""
    return field in FACET_FIELDS or field.startswith(META_PREFIX)


_NAMES = ("from", "to", "source", "document", "entity", META, *ATTRIBUTES)
"""The filters as the command line and saved searches name them."""
NO_FILTERS = Filters()
