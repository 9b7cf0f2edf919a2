"""Names as searches see them: all written forms with one key are one name, of one type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from esr.engines.entities import ENTITY_TYPES, EntitiesByType
from esr.engines.keys import name_key

FAIR_SHARE = 0.2
"""The share of a name's sentences that gives it a type beside that of the majority: taggers err."""


class Name(NamedTuple):
    """A name of the collection.

    `form` is the written form that most sentences have (of several the first by code points), or the one that
    a table of aliases gives; `type` the type that most sentences give it (of several the first of
    ENTITY_TYPES). `sentences` counts those that have any of its forms, under any type. `keys` are those of
    its forms: its own `key` alone, unless it has aliases. `other_types` are those that a fair share of its
    sentences give it too, in the order of ENTITY_TYPES.
    """

    key: str
    form: str
    type: str
    sentences: int
    keys: tuple[str, ...]
    other_types: tuple[str, ...] = ()

    def has_type(self, type: str | None) -> bool:
        """Does a filter of this type accept the name? That of any type (None) accepts all."""
        return type in (None, self.type, *self.other_types)


class NameFilter(NamedTuple):
    """A name as a filter asks for it: `person:Barack Obama`, or `Barack Obama` of any type (None)."""

    text: str
    type: str | None

    @property
    def key(self) -> str:
        return name_key(self.text)


def parse_name_filter(text: str) -> NameFilter:
    """The name that an entry of `Filters.entities` asks for."""
    type, colon, name = text.partition(":")
    if colon and type in ENTITY_TYPES:
        return NameFilter(name.strip(), type)
    return NameFilter(text, None)


def keys_by_type(entities: EntitiesByType) -> dict[str, list[str]]:
    """The keys of a sentence's names by type, each once."""
    return {type: list(dict.fromkeys(map(name_key, names))) for type, names in entities.items()}


def majority_type(sentences: Mapping[str, int]) -> str:
    """The type that most sentences give, of several the first of ENTITY_TYPES."""
    return max(ENTITY_TYPES, key=lambda type: sentences.get(type, 0))


def other_types(sentences: Mapping[str, int], total: int) -> tuple[str, ...]:
    """The types but that of the majority that a fair share of `total` sentences give."""
    majority = majority_type(sentences)
    least = FAIR_SHARE * total
    return tuple(t for t in ENTITY_TYPES if t != majority and sentences.get(t, 0) >= max(least, 1))


def majority_form(sentences: Iterable[tuple[str, int]]) -> str:
    """The form that most sentences have, of several the first by code points."""
    return min(sentences, key=lambda form: (-form[1], form[0]))[0]
