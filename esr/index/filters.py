"""Filters of a search, fields to count candidates by, and the resolution of values that people write.

People write values in any case, and names in any form. `resolve_filters` and `resolve_condition` replace them
with stored forms and keys, which is all that engines see. `find_unknown_filters` reports values that an index
does not have, each with the most similar known one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from esr.errors import UsageError, find_nearest, unknown
from esr.index.names import (
    ENTITY_TYPES,
    ID_PREFIX,
    Name,
    NameFilter,
    NameKey,
    entity_key,
    name_key,
    parse_name_filter,
    short_key,
)
from esr.index.questions import (
    Answer,
    ByField,
    Fact,
    FullNames,
    HasCopies,
    Lookup,
    Names,
    NamesWithPrefix,
    Values,
)
from esr.index.values import ValueTable
from esr.plans.plan import (
    AllOf,
    AnyOf,
    Condition,
    HasAttribute,
    HasEntity,
    HasSource,
    HasTerm,
    Plan,
    SaidBy,
    all_of,
    replace_leaves,
)
from esr.stdlib import import_lazily
from esr.text.attributes import ATTRIBUTES, META, META_PREFIX, is_attribute, value_key
from esr.text.dates import parse_date_end, parse_date_start

if TYPE_CHECKING:
    from esr.text import written_dates
else:
    written_dates = import_lazily("esr.text.written_dates")

FACET_FIELDS = ("source", "month", "language", *ATTRIBUTES, *ENTITY_TYPES)
"""The document's source, its month (2017-02, in UTC), the code of its language in lower case, its attributes,
and the names in the sentence by type.

Keys of the metadata can be counted too: `meta.desk`.
"""

Moment = int | str | date
"""An ISO 8601 date such as "2024-01", a date or datetime, a year such as 2024, or milliseconds since 1970; in
UTC by default."""
Texts = str | Iterable[str]
"""One text, or several."""


class Filters(Struct, frozen=True):
    """The conditions that every hit satisfies. Dates are milliseconds since the epoch, both ends included.

    `independent`: the sentence is no copy of an earlier one (`esr enrich --only reuse`), wherever that is.

    A hit needs one of the sources, one of the documents and one of the entities, and satisfies each of
    `attributes`. Sources and attributes may be written in any case. An entity is `person:Barack Obama`, or
    `Barack Obama` for any type; the sentence itself must contain a form of that name.

    All values may be given as people write them: dates as `Moment`, which includes the whole month or day,
    except that a number is milliseconds, also 2024, since these filters are made of moments; one value in
    place of several; attributes as a mapping such as `{"author": "Ann Lee", "meta.desk": "Berlin"}`. Raises
    UsageError for anything else.
    """

    date_from: int | None = None
    date_to: int | None = None
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    attributes: tuple[HasAttribute, ...] = ()
    independent: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            date_from: Moment | None = None,
            date_to: Moment | None = None,
            sources: Texts | None = (),
            documents: Texts | None = (),
            entities: Texts | None = (),
            attributes: HasAttribute | Iterable[HasAttribute] | Mapping[str, Texts] = (),
            independent: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        for name, parse in (("date_from", parse_date_start), ("date_to", parse_date_end)):
            value = getattr(self, name)
            force_setattr(self, name, None if value is None else read_moment(name, value, parse))
        for name in ("sources", "documents", "entities"):
            force_setattr(self, name, read_texts(name, getattr(self, name)))
        force_setattr(self, "attributes", _read_attributes(self.attributes))
        if self.date_from is not None and self.date_to is not None and self.date_from > self.date_to:
            raise UsageError("the first day is after the last: swap them")

    def __bool__(self) -> bool:
        return self is not NO_FILTERS and self != NO_FILTERS

    def as_dict(self) -> dict[str, Any]:
        """The filters as JSON in the stable form that is stored and compared: without what is not set.

        The order of values and their repetitions, which mean nothing, are left out. `attributes` are pairs of
        names and values.
        """
        attributes = sorted(
            [sorted(set(attribute.names)), sorted(set(attribute.values))] for attribute in self.attributes
        )
        fields: dict[str, Any] = {
            "date_from": self.date_from,
            "date_to": self.date_to,
            **{name: sorted(set(getattr(self, name))) for name in ("sources", "documents", "entities")},
            "attributes": attributes,
            "independent": self.independent or None,
        }
        return {name: value for name, value in fields.items() if value not in (None, [])}

    def attribute_values(self, name: str) -> tuple[str, ...]:
        """The values that the filters accept for an attribute."""
        return tuple(v for wanted in self.attributes if _is_on(wanted, name) for v in wanted.values)

    def without_attribute(self, name: str) -> Filters:
        """The same filters without filters on this attribute."""
        return replace(
            self, attributes=tuple(attribute for attribute in self.attributes if not _is_on(attribute, name))
        )

    def without_field(self, field: str) -> Filters:
        """The same filters without filters on this field of FACET_FIELDS."""
        if is_attribute(field):
            return self.without_attribute(field)
        return replace(self, **_OWN_FILTER.get(field, {"entities": ()}))

    def condition_on(self, field: str) -> Condition | None:
        """The condition that the filters on a field of names or attributes set; None without such filters."""
        if is_attribute(field):
            return all_of(attribute for attribute in self.attributes if _is_on(attribute, field))
        if field == "source":
            return HasSource(self.sources) if self.sources else None
        return HasEntity(self.entities) if self.entities and field in ENTITY_TYPES else None


def _is_on(wanted: HasAttribute, name: str) -> bool:
    """Whether a filter is on this attribute alone. Keys of the metadata are equal in any case."""
    return [*map(value_key, wanted.names)] == [value_key(name)]


_OWN_FILTER: dict[str, dict[str, Any]] = {
    "source": {"sources": ()},
    "month": {"date_from": None, "date_to": None},
    "language": {},
}
"""The change that removes a field's filter, by field. Fields not listed are types of entities."""


def build_attribute_filters(
    values: Mapping[str, Sequence[str]], metadata: Iterable[str]
) -> tuple[HasAttribute, ...]:
    """Build filters from values by attribute name, and from pairs of metadata such as `desk=Berlin`.

    Raises UsageError for a text that is not such a pair.
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


def read_moment(name: str, value: Any, parse: Callable[[str], int]) -> int:
    """The moment of a date, as `parse` reads a text. Raises UsageError, whose message begins with `name`."""
    if type(value) is int:
        return value
    try:
        if isinstance(value, date):
            return parse(value.isoformat())
        if isinstance(value, str):
            return _read_date(value, parse)
        if not isinstance(value, bool):
            return index(value)
    except (TypeError, ValueError):
        pass
    raise UsageError(f"{name} is a date such as '2024-01-31', not {value!r}")


def _read_date(text: str, parse: Callable[[str], int]) -> int:
    """The moment of a date in ISO 8601, or as people write it: 22 March 2017. Raises ValueError."""
    try:
        return parse(text)
    except ValueError:
        written = written_dates.parse_typed_date(text)
        if written is None:
            raise
        return parse(written)


def read_texts(name: str, value: Any) -> tuple[str, ...]:
    """One text or several as a tuple. Raises UsageError, whose message begins with `name`."""
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
            {name: read_texts(name, of_name) for name, of_name in value.items()}, ()
        )
    attributes = (value,) if isinstance(value, HasAttribute) else value
    if isinstance(attributes, Iterable):
        attributes = tuple(attributes)
        if all(isinstance(attribute, HasAttribute) for attribute in attributes):
            return attributes
    raise UsageError(f"attributes is a mapping such as {{'author': 'Ann Lee'}}, not {value!r}")


def check_facets(fields: Iterable[str]) -> None:
    """Raise UsageError for a field that candidates cannot be counted by."""
    for field in fields:
        if field not in FACET_FIELDS and not field.startswith(META_PREFIX):
            raise unknown("facet", field, FACET_FIELDS)


NO_FILTERS = Filters()


_NOTHING = ""
"""A key and source that no sentence has, which makes a filter match nothing."""


class Vocabulary(Protocol):
    """The names, sources and attributes of an index: a part of the interface `Index`."""

    def vocabulary(self, lookup: Lookup[Answer]) -> Answer:
        """What the collection has of names or values of fields."""

    def status(self, fact: Fact[Answer]) -> Answer:
        """A fact about the index."""


def resolve_filters(index: Vocabulary, filters: Filters) -> Filters:
    """The filters as engines execute them, with written forms of values and keys of names.

    Raises UsageError for `independent` where copies were not looked for.
    """
    if filters.independent and not index.status(HasCopies()):
        raise UsageError(
            "independent leaves out copies, which were not looked for in this index: "
            "run esr enrich --only reuse first"
        )
    if not filters.sources and not filters.entities and not filters.attributes:
        return filters
    sources = [form for text in filters.sources for form in resolve_source(index, text)]
    keys = [key for text in filters.entities for key in resolve_name(index, text)]
    return replace(
        filters,
        sources=tuple(dict.fromkeys(sources)) or (_NOTHING,) * bool(filters.sources),
        entities=tuple(dict.fromkeys(keys)) or (_NOTHING,) * bool(filters.entities),
        attributes=tuple(resolve_attribute(index, wanted) for wanted in filters.attributes),
    )


def resolve_by_field(index: Vocabulary, filters: Filters, by: ByField) -> dict[str, Filters]:
    """The filters that each field is counted under, as engines execute them."""
    filters_by_field = {
        field: filters.without_field(field) if by.without_own else filters for field in by.fields
    }
    return {field: resolve_filters(index, of_field) for field, of_field in filters_by_field.items()}


def resolve_plan(index: Vocabulary, plan: Plan) -> Plan:
    """The plan with its condition as engines execute it."""
    if plan.condition is None:
        return plan
    return replace(plan, condition=resolve_condition(index, plan.condition))


def resolve_condition(index: Vocabulary, condition: Condition) -> Condition:
    """The condition as engines execute it, with written forms of values and keys of names."""
    if _has_only_terms(condition):  # the usual case: conditions counted for every answer
        return condition

    def resolve(leaf: Condition) -> Condition:
        match leaf:
            case HasSource(texts):
                return HasSource(tuple(form for text in texts for form in resolve_source(index, text)))
            case HasAttribute():
                return resolve_attribute(index, leaf)
            case HasEntity(texts):
                return HasEntity(tuple(key for text in texts for key in resolve_name(index, text)))
            case SaidBy(texts, probable):
                keys = tuple(key for text in texts for key in resolve_speaker(index, text))
                return SaidBy(keys, probable)
            case _:
                return leaf

    return replace_leaves(condition, resolve)


def _has_only_terms(condition: Condition) -> bool:
    parts = condition.conditions if isinstance(condition, AllOf | AnyOf) else (condition,)
    return {type(part) for part in parts} == {HasTerm}


def resolve_source(index: Vocabulary, text: str) -> tuple[str, ...]:
    """The written forms of the source with this name, in any case; empty if there is no such source."""
    source = index.vocabulary(Values("source")).find(text)
    return source.forms if source else ()


def resolve_attribute(index: Vocabulary, wanted: HasAttribute) -> HasAttribute:
    """The condition with the written forms of its names and values, without unknown ones."""

    def list_values(field: str) -> ValueTable:
        return index.vocabulary(Values(field))

    values = [
        form
        for name in wanted.names
        for text in wanted.values
        if (value := list_values(name).find(text))
        for form in value.forms
    ]
    names = [form for name in wanted.names for form in attribute_names(list_values, name)]
    return HasAttribute(tuple(names), tuple(dict.fromkeys(values)))


def attribute_names(list_values: Callable[[str], ValueTable], name: str) -> tuple[str, ...]:
    """The names of an attribute in the documents: `meta.desk` under each written form of its key.

    `list_values` lists the values of a field.
    """
    if not name.startswith(META_PREFIX):
        return (name,)
    key = list_values(META).find(name.removeprefix(META_PREFIX))
    return tuple(META_PREFIX + form for form in key.forms) if key else ()


def resolve_name(index: Vocabulary, text: str) -> tuple[str, ...]:
    """The keys of the names that an entry of `Filters.entities` means; empty if there is no such name."""
    if isinstance(text, NameKey):
        return tuple(key for name in index.vocabulary(Names([text])).values() for key in name.keys)
    return resolve_all_names(index, [text])[text]


def resolve_all_names(index: Vocabulary, texts: Collection[str]) -> dict[str, tuple[str, ...]]:
    """What `resolve_name` finds for each of many entries, by as few requests as for one."""
    wanted = {text: parse_name_filter(text) for text in texts}
    names_by_key = find_all_meant(index, {wanted_name.key for wanted_name in wanted.values()})
    return {
        text: tuple(
            dict.fromkeys(
                key
                for name in names_by_key[wanted_name.key]
                if name.has_type(wanted_name.type)
                for key in name.keys
            )
        )
        for text, wanted_name in wanted.items()
    }


def find_meant(index: Vocabulary, key: str) -> list[Name]:
    """The names that a written form or an id may mean, by its key.

    A short form that stands for different names, or for none in some documents, means all of them.
    """
    return find_all_meant(index, [key])[key]


def find_all_meant(index: Vocabulary, keys: Collection[str]) -> dict[str, list[Name]]:
    """What `find_meant` finds for each of many keys, by as few requests as for one."""
    shorts = {key: short_key(key) for key in keys}
    wanted = dict.fromkeys(form for key, short in shorts.items() for form in (key, short, ID_PREFIX + key))
    known = index.vocabulary(Names(list(wanted)))
    exact = {key: known.get(key, known.get(short)) for key, short in shorts.items()}
    bases = {key: shorts[key] if name is None else name.key for key, name in exact.items()}
    full = index.vocabulary(FullNames(list(dict.fromkeys(bases.values()))))
    others = index.vocabulary(Names(list(dict.fromkeys(name for names in full.values() for name in names))))
    names_by_key: dict[str, list[Name]] = {}
    for key, base in bases.items():
        names = (exact[key], known.get(ID_PREFIX + key), *(others.get(name) for name in full.get(base, ())))
        names_by_key[key] = list({name.key: name for name in names if name is not None}.values())
    return names_by_key


def resolve_speaker(index: Vocabulary, text: str) -> tuple[str, ...]:
    """The keys of a speaker: its own, and those of its aliases if the index has the name or id."""
    return resolve_all_speakers(index, [text])[text]


def resolve_all_speakers(index: Vocabulary, texts: Collection[str]) -> dict[str, tuple[str, ...]]:
    """What `resolve_speaker` finds for each of many speakers, by as few requests as for one."""
    forms = {text: (name_key(text), ID_PREFIX + name_key(text)) for text in texts}
    names = index.vocabulary(Names(list(dict.fromkeys(form for both in forms.values() for form in both))))
    return {
        text: (both[0], *(key for form in both if form in names for key in names[form].keys))
        for text, both in forms.items()
    }


_BEGINNINGS = (3, 1)
"""Lengths of the prefix that a similar name must share, in the order in which they are tried."""
_CANDIDATES = 1000
_KNOWN_VALUES = 5


class UnknownFilter(NamedTuple):
    """A filter value that no sentence has. `nearest` is a similar value in the same notation.

    `field` is the query argument: `source`, `entity`, `author`, `section`, `keyword` or `meta`.
    """

    field: str
    value: str
    message: str
    nearest: str | None


def find_unknown_filters(index: Vocabulary, filters: Filters) -> tuple[UnknownFilter, ...]:
    """The sources, attributes and names in the filters that the index does not have."""
    return (
        *(unknown for text in filters.sources for unknown in _unknown_value(index, "source", text)),
        *(
            unknown
            for wanted in filters.attributes
            for name in wanted.names
            for text in wanted.values
            for unknown in _unknown_value(index, name, text)
        ),
        *_unknown_names(index, filters),
    )


def nearest_name(index: Vocabulary, key: str) -> Name | None:
    """The name most similar to a key, among the most frequent names with the same prefix."""
    for length in _BEGINNINGS:
        candidates = index.vocabulary(NamesWithPrefix(key[:length], _CANDIDATES))
        match = find_nearest(key, candidates, 0.6)
        if match is not None:
            return index.vocabulary(Names([match])).get(match)
    return None


def _unknown_value(index: Vocabulary, field: str, text: str) -> Iterator[UnknownFilter]:
    """Yield the value of a field if no document has it; for metadata, also if no document has the key."""
    argument, key, pair = field, "", text
    if field.startswith(META_PREFIX):
        argument, key = META, field.removeprefix(META_PREFIX)
        pair = f"{key}={text}"
        if index.vocabulary(Values(META)).find(key) is None:
            problem, near = _describe(index.vocabulary(Values(META)), "metadata", key)
            yield UnknownFilter(META, pair, problem, near and f"{near}={text}")
            return
    values = index.vocabulary(Values(field))
    if values.find(text) is None:
        problem, near = _describe(values, key or field, text)
        yield UnknownFilter(argument, pair, problem, f"{key}={near}" if key and near else near)


def _describe(values: ValueTable, kind: str, text: str) -> tuple[str, str | None]:
    """The message about an unknown value, and the most similar known one."""
    near = values.nearest(text)
    known = [value.form for value in values.with_prefix("", _KNOWN_VALUES)]
    hint = f"did you mean {near.form!r}?" if near else f"known: {', '.join(known) or 'none'}"
    return f"unknown {kind} {text!r}: {hint}", near and near.form


def _unknown_names(index: Vocabulary, filters: Filters) -> Iterator[UnknownFilter]:
    for text in filters.entities:
        wanted = parse_name_filter(text)
        names = find_meant(index, wanted.key)
        name = next(
            (candidate for candidate in names if candidate.has_type(wanted.type)), names[0] if names else None
        )
        if name is None:
            near = nearest_name(index, wanted.key)
            yield UnknownFilter(
                "entity", text, str(_describe_unknown(index, wanted, near)), near and near.form
            )
        elif not name.has_type(wanted.type):
            article = "an" if name.type[0] in "aeiou" else "a"
            form = f'"{name.form}"' if " " in name.form else name.form
            problem = (
                f"{name.form!r} is {article} {name.type} in this index, not: {wanted.type}; "
                f"search for {entity_key(name.type, form)}"
            )
            yield UnknownFilter("entity", text, problem, entity_key(name.type, name.form))


def _describe_unknown(index: Vocabulary, wanted: NameFilter, near: Name | None) -> UsageError:
    if near is not None:
        return UsageError(f"unknown name {wanted.text!r}: did you mean {near.form!r}?")
    if not index.vocabulary(NamesWithPrefix("", 1)):
        return UsageError(f"unknown name {wanted.text!r}: the index has no names, find them with esr enrich")
    return UsageError(f"unknown name {wanted.text!r}: no sentence has it")
