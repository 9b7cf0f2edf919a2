"""Conditions that sentences have to satisfy to be candidates: a tree that both engines execute.

Words are those of the analyzer `words`: as they are written, in lower case and without accents. Terms are
those of the index's analyzer. A condition adds nothing to a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

TextField = Literal["sentence", "title"]


class HasTerm(Struct, frozen=True):
    """The sentence holds a term."""

    term: str


class HasWords(Struct, frozen=True):
    """The words stand next to each other, in this order. There is at least one."""

    words: tuple[str, ...]
    field: TextField = "sentence"


class HasPrefix(Struct, frozen=True):
    """A word begins so."""

    prefix: str
    field: TextField = "sentence"


class HasSource(Struct, frozen=True):
    """The document is from one of these sources. Engines resolve them to the forms that documents have."""

    forms: tuple[str, ...]


class HasAttribute(Struct, frozen=True):
    """The document has one of these values under one of these names (`esr.text.document`).

    Engines resolve a name and values to the forms that documents have.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]


class HasLanguage(Struct, frozen=True):
    """The document declares this language, a code in lower case, or a variety of it: "de" takes "de-AT"."""

    language: str


class HasEntity(Struct, frozen=True):
    """The sentence has one of these names: `person:Barack Obama`, or `Barack Obama` of any type.

    Engines resolve them to keys of names.
    """

    keys: tuple[str, ...]


class DateRange(Struct, frozen=True):
    """The document is of these milliseconds since the epoch, both ends included."""

    start: int | None = None
    end: int | None = None


class AllOf(Struct, frozen=True):
    """Every condition holds."""

    conditions: tuple[Condition, ...]


class AnyOf(Struct, frozen=True):
    """At least one condition holds."""

    conditions: tuple[Condition, ...]


class Not(Struct, frozen=True):
    """The condition does not hold."""

    condition: Condition


Condition = (
    HasTerm
    | HasWords
    | HasPrefix
    | HasSource
    | HasAttribute
    | HasLanguage
    | HasEntity
    | DateRange
    | AllOf
    | AnyOf
    | Not
)


def all_of(conditions: Iterable[Condition]) -> Condition | None:
    """The condition that holds where all of these do; None for none."""
    distinct = tuple(dict.fromkeys(conditions))
    if len(distinct) <= 1:
        return next(iter(distinct), None)
    return AllOf(distinct)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """The condition that holds where one of these does."""
    distinct = tuple(dict.fromkeys(conditions))
    return distinct[0] if len(distinct) == 1 else AnyOf(distinct)


def describe(condition: Condition) -> dict[str, object]:
    """The condition as JSON, with the name of its class."""
    name = type(condition).__name__
    if isinstance(condition, Not):
        return {"is": name, "condition": describe(condition.condition)}
    if isinstance(condition, AllOf | AnyOf):
        return {"is": name, "conditions": [describe(part) for part in condition.conditions]}
    return {"is": name, **{field: getattr(condition, field) for field in condition.__struct_fields__}}


def leaves(condition: Condition) -> Iterator[Condition]:
    """The conditions that are made of no others."""
    match condition:
        case Not(part):
            yield from leaves(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case leaf:
            yield leaf


def replace_leaves(condition: Condition, replace: Callable[[Condition], Condition]) -> Condition:
    """The condition with others in place of those that are made of no others."""
    match condition:
        case Not(part):
            return Not(replace_leaves(part, replace))
        case AllOf(parts):
            return AllOf(tuple(replace_leaves(part, replace) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(replace_leaves(part, replace) for part in parts))
        case leaf:
            return replace(leaf)
