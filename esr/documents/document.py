"""A news document and its sentences, as loaders create them and indexes store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field


class ParseWord(NamedTuple):
    """A word of a dependency parse and the position of its head; -1 for a root."""

    word: str
    head: int


class Sentence(Struct, frozen=True):
    """One sentence. `id` is unique in its index; features and parse are stored unchanged.

    `paragraph` is the number of its paragraph in the source text, from 0; None if unknown.
    """

    id: str
    text: str
    features: Mapping[str, float] = field(default_factory=dict)
    parse: tuple[ParseWord, ...] | None = None
    paragraph: int | None = None


class Document(Struct, frozen=True):
    """One document. `date` is valid ISO 8601, as the source wrote it. Unknown fields are None or empty.

    `section` is the part of the newspaper or site. `metadata` is what else its source gives, as JSON.
    """

    id: str
    sentences: tuple[Sentence, ...]
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    section: str | None = None
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Located(NamedTuple):
    """A document and where it was read from, for messages: `news.jsonl:12`."""

    where: str
    document: Document


def default_sentence_id(document_id: str, position: int) -> str:
    """The id of a sentence whose source has none: `<document id>.s<n>`, n from 0."""
    return f"{default_id_prefix(document_id)}{position}"


def default_id_prefix(document_id: str) -> str:
    """The start of the default ids of a document's sentences; the position follows it."""
    return f"{document_id}.s"


def custom_id_positions(document: Document) -> list[int]:
    """The positions of the sentences whose ids differ from the default ones."""
    prefix = default_id_prefix(document.id)
    return [n for n, sentence in enumerate(document.sentences) if sentence.id != f"{prefix}{n}"]
