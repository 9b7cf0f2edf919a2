"""Conditions on candidates: a tree that both engines execute. A condition adds nothing to a score.

Words are those of the analyzer `words`: as written, but in lower case and without accents. Terms are those of
the index's analyzer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

TextField = Literal["sentence", "title"]


class HasTerm(Struct, frozen=True):
    """The sentence contains a term."""

    term: str


class HasWords(Struct, frozen=True):
    """The words are adjacent, in this order. There is at least one."""

    words: tuple[str, ...]
    field: TextField = "sentence"


class HasPrefix(Struct, frozen=True):
    """A word has this prefix."""

    prefix: str
    field: TextField = "sentence"


class HasSource(Struct, frozen=True):
    """The document is from one of these sources, which engines resolve to the forms in documents."""

    forms: tuple[str, ...]


class HasAttribute(Struct, frozen=True):
    """The document has one of these values under one of these names (`esr.text.document`).

    Engines resolve names and values to the forms in documents.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]


class HasLanguage(Struct, frozen=True):
    """The document declares this language (a lower-case code) or a variety of it: "de" includes "de-AT"."""

    language: str


class HasEntity(Struct, frozen=True):
    """The sentence mentions one of these names: `person:Barack Obama`, or `Barack Obama` of any type.

    Engines resolve them to keys of names.
    """

    keys: tuple[str, ...]


class HasQuote(Struct, frozen=True):
    """The sentence contains direct speech."""


class SaidBy(Struct, frozen=True):
    """The sentence contains direct speech of one of these speakers. Engines resolve them to keys of names."""

    keys: tuple[str, ...]


class DateRange(Struct, frozen=True):
    """The document is dated within these milliseconds since the epoch, both inclusive."""

    start: int | None = None
    end: int | None = None


class AllOf(Struct, frozen=True):
    """All of the conditions hold."""

    conditions: tuple[Condition, ...]


class AnyOf(Struct, frozen=True):
    """At least one of the conditions holds."""

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
    | HasQuote
    | SaidBy
    | DateRange
    | AllOf
    | AnyOf
    | Not
)


def all_of(conditions: Iterable[Condition]) -> Condition | None:
    """Combine conditions into one that holds if all do, None if there are none."""
    distinct = tuple(dict.fromkeys(conditions))
    if len(distinct) <= 1:
        return next(iter(distinct), None)
    return AllOf(distinct)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Combine conditions into one that holds if at least one does."""
    distinct = tuple(dict.fromkeys(conditions))
    return distinct[0] if len(distinct) == 1 else AnyOf(distinct)


def describe(condition: Condition) -> dict[str, object]:
    """Convert a condition to JSON, with the name of its class."""
    name = type(condition).__name__
    if isinstance(condition, Not):
        return {"is": name, "condition": describe(condition.condition)}
    if isinstance(condition, AllOf | AnyOf):
        return {"is": name, "conditions": [describe(part) for part in condition.conditions]}
    return {"is": name, **{field: getattr(condition, field) for field in condition.__struct_fields__}}


def leaves(condition: Condition) -> Iterator[Condition]:
    """Yield the conditions that contain no others."""
    match condition:
        case Not(part):
            yield from leaves(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case leaf:
            yield leaf


def replace_leaves(condition: Condition, replace: Callable[[Condition], Condition]) -> Condition:
    """Replace the conditions that contain no others."""
    match condition:
        case Not(part):
            return Not(replace_leaves(part, replace))
        case AllOf(parts):
            return AllOf(tuple(replace_leaves(part, replace) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(replace_leaves(part, replace) for part in parts))
        case leaf:
            return replace(leaf)
