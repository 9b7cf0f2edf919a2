"""What a language model of spaCy says about a sentence: tokens with tags and heads, and named entities."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

PERSON, LOCATION, ORGANIZATION = "person", "location", "organization"


class Entity(NamedTuple):
    """A named entity. `type` is PERSON, LOCATION or ORGANIZATION; entities of other types are dropped."""

    text: str
    type: str


class Token(NamedTuple):
    """A word or a punctuation mark.

    `tag` is its Penn Treebank tag, "" if the sentence was not tagged. `head` is the position of its head in
    the sentence, -1 for the root and in a sentence that was not parsed. `space_after`: a space follows it.
    """

    text: str
    tag: str
    head: int
    space_after: bool


class Annotation(Struct, frozen=True):
    """A sentence's tokens in order, and its entities: None if the model was not run for entities."""

    tokens: tuple[Token, ...]
    entities: tuple[Entity, ...] | None
    is_tagged: bool
    is_parsed: bool
