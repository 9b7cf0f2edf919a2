"""From what people write in filters to what an index holds: keys of names, written forms of sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from esr.documents.attributes import META, META_PREFIX
from esr.engines.filters import Filters
from esr.engines.names import Name, parse_name_filter
from esr.engines.values import ValueTable
from esr.plans.condition import (
    AllOf,
    AnyOf,
    Condition,
    HasAttribute,
    HasEntity,
    HasSource,
    HasTerm,
    replace_leaves,
)
from esr.plans.plan import Plan

_NOTHING = ""
"""The key and the source that nothing has."""


class ValueLister(Protocol):
    """Lists the values of documents."""

    def values(self, field: str) -> ValueTable:
        """The values of the field `source` or of an attribute in the documents; of META, the keys."""


class Vocabulary(ValueLister, Protocol):
    """The names, sources and attributes of an index: a part of the interface `Index`."""

    def find_names(self, keys: Sequence[str]) -> Mapping[str, Name]:
        """The names with these keys, by key. Those that no sentence has are left out."""

    def name_keys(self, prefix: str, limit: int) -> list[str]:
        """The keys of the names of which a key or an alias begins so, most sentences first, then by key."""


def resolve_filters(vocabulary: Vocabulary, filters: Filters) -> Filters:
    """The filters as engines execute them: with written forms of values, and keys of names."""
    if not filters.sources and not filters.entities and not filters.attributes:
        return filters
    sources = [form for text in filters.sources for form in resolve_source(vocabulary, text)]
    keys = [key for text in filters.entities for key in resolve_name(vocabulary, text)]
    return replace(
        filters,
        sources=tuple(dict.fromkeys(sources)) or (_NOTHING,) * bool(filters.sources),
        entities=tuple(dict.fromkeys(keys)) or (_NOTHING,) * bool(filters.entities),
        attributes=tuple(resolve_attribute(vocabulary, wanted) for wanted in filters.attributes),
    )


def resolve_plan(vocabulary: Vocabulary, plan: Plan) -> Plan:
    """The plan with its condition as engines execute it."""
    if plan.condition is None:
        return plan
    return replace(plan, condition=resolve_condition(vocabulary, plan.condition))


def resolve_condition(vocabulary: Vocabulary, condition: Condition) -> Condition:
    """The condition as engines execute it: with written forms of sources, and keys of names."""
    if _has_only_terms(condition):  # as those that each answer counts
        return condition

    def resolve(leaf: Condition) -> Condition:
        match leaf:
            case HasSource(texts):
                return HasSource(tuple(form for text in texts for form in resolve_source(vocabulary, text)))
            case HasAttribute():
                return resolve_attribute(vocabulary, leaf)
            case HasEntity(texts):
                return HasEntity(tuple(key for text in texts for key in resolve_name(vocabulary, text)))
            case _:
                return leaf

    return replace_leaves(condition, resolve)


def _has_only_terms(condition: Condition) -> bool:
    parts = condition.conditions if isinstance(condition, AllOf | AnyOf) else (condition,)
    return {type(part) for part in parts} == {HasTerm}


def resolve_source(vocabulary: Vocabulary, text: str) -> tuple[str, ...]:
    """The written forms of the source that a text names, in any case; none if there is no such source."""
    source = vocabulary.values("source").find(text)
    return source.forms if source else ()


def resolve_attribute(vocabulary: Vocabulary, wanted: HasAttribute) -> HasAttribute:
    """The condition with the written forms of its name and values; with none if there are no such values."""
    values = [
        form
        for name in wanted.names
        for text in wanted.values
        if (value := vocabulary.values(name).find(text))
        for form in value.forms
    ]
    names = [form for name in wanted.names for form in attribute_names(vocabulary, name)]
    return HasAttribute(tuple(names), tuple(dict.fromkeys(values)))


def attribute_names(vocabulary: ValueLister, name: str) -> tuple[str, ...]:
    """An attribute as documents have it: `meta.desk` under each form that its key is written in."""
    if not name.startswith(META_PREFIX):
        return (name,)
    key = vocabulary.values(META).find(name.removeprefix(META_PREFIX))
    return tuple(META_PREFIX + form for form in key.forms) if key else ()


def resolve_name(vocabulary: Vocabulary, text: str) -> tuple[str, ...]:
    """The keys of the name that an entry of `Filters.entities` asks for; none if there is no such name."""
    wanted = parse_name_filter(text)
    name = vocabulary.find_names([wanted.key]).get(wanted.key)
    if name is None or not name.has_type(wanted.type):
        return ()
    return name.keys
