"""Named entities as the engines store them: the distinct names of a sentence, grouped by type."""

from __future__ import annotations

from collections.abc import Iterable

from esr.documents.annotation import LOCATION, ORGANIZATION, PERSON, Entity

ENTITY_TYPES = (PERSON, LOCATION, ORGANIZATION)
EntitiesByType = dict[str, tuple[str, ...]]
"""Names by type: types in the order of ENTITY_TYPES, names in the order of the sentence. A type without
names is left out."""


def group_entities(entities: Iterable[Entity]) -> EntitiesByType:
    """Group entities by type, each name once. Entities of other types are dropped."""
    names: dict[str, dict[str, None]] = {}
    for entity in entities:
        if entity.text:
            names.setdefault(entity.type, {})[entity.text] = None
    return {type: tuple(names[type]) for type in ENTITY_TYPES if type in names}


def entity_key(type: str, name: str) -> str:
    """An entity as one string: `type:name`."""
    return f"{type}:{name}"


def parse_entity_key(key: str) -> Entity:
    """The inverse of `entity_key`."""
    type, _, name = key.partition(":")
    return Entity(name, type)
