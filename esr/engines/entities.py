"""Named entities as the engines keep them: the distinct names of a sentence, by type."""

from __future__ import annotations

from collections.abc import Iterable

from esr.documents.annotation import LOCATION, ORGANIZATION, PERSON, Entity

TYPES = (PERSON, LOCATION, ORGANIZATION)
Grouped = dict[str, tuple[str, ...]]
"""Names by type: types in the order above, names in that of the sentence; no type without a name."""


def grouped(entities: Iterable[Entity]) -> Grouped:
    """Each name once. What is of another type is dropped."""
    found: dict[str, dict[str, None]] = {}
    for entity in entities:
        if entity.text:
            found.setdefault(entity.type, {})[entity.text] = None
    return {type: tuple(found[type]) for type in TYPES if type in found}


def wanted(text: str) -> list[Entity]:
    """What a filter asks for: `person:Barack Obama`, or `Barack Obama` as an entity of any type."""
    type, colon, name = text.partition(":")
    if colon and type in TYPES:
        return [Entity(name.strip(), type)]
    return [Entity(text, each) for each in TYPES]
