"""What a language model of spaCy says about a sentence: words with tags and heads, and named entities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

PERSON, LOCATION, ORGANIZATION = "person", "location", "organization"


class Entity(NamedTuple):
    """A named entity. `type` is PERSON, LOCATION or ORGANIZATION; others are not kept."""

    text: str
    type: str


class Word(NamedTuple):
    """A word or a punctuation mark.

    `tag` is its Penn Treebank tag, "" if the sentence was not tagged. `head` is the place of its head in
    the sentence, -1 for the root and in a sentence that was not parsed. `blank`: a blank follows it.
    """

    text: str
    tag: str
    head: int
    blank: bool


@dataclass(frozen=True, slots=True)
class Annotation:
    """A sentence's words in order, and its entities: None if they were not looked for."""

    words: tuple[Word, ...]
    entities: tuple[Entity, ...] | None
    tagged: bool
    parsed: bool
