"""A document of news and its sentences, as every loader makes them and every index keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class ParseWord(NamedTuple):
    """A word of a dependency parse and the index of its head; -1 for a root."""

    word: str
    head: int


@dataclass(slots=True)  # frozen, it takes three times as long to make: much of a load
class Sentence:
    """One sentence. `id` is unique in its index; features and parse are kept as they were given."""

    id: str
    text: str
    features: Mapping[str, float] = field(default_factory=dict)
    parse: tuple[ParseWord, ...] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One document. `date` is valid ISO 8601, as it was given; None where something is not known."""

    id: str
    sentences: tuple[Sentence, ...]
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None


class Located(NamedTuple):
    """A document and the place it was read from, for messages: `news.jsonl:12`."""

    where: str
    document: Document


def default_sentence_id(document_id: str, position: int) -> str:
    """The id of a sentence that was given none: `<document id>.s<n>`, n from 0."""
    return f"{default_start(document_id)}{position}"


def default_start(document_id: str) -> str:
    """What the default ids of a document's sentences begin with: the position follows."""
    return f"{document_id}.s"


def own_ids(document: Document) -> list[int]:
    """The positions of the sentences whose ids are other than the default ones."""
    start = default_start(document.id)
    return [n for n, sentence in enumerate(document.sentences) if sentence.id != f"{start}{n}"]
