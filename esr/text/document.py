"""Documents and sentences, as loaders create them and indexes store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field


class ParseWord(NamedTuple):
    """A word of a dependency parse, and the position of its head; -1 for a root."""

    word: str
    head: int


CERTAIN, PROBABLE = "certain", "probable"
"""How surely somebody is the speaker of a quotation."""


class Quote(NamedTuple):
    """Direct speech in a sentence: its characters `start` to `end`, marks included, and who said it.

    `speaker` is the speaker as written, `name` the name that it stands for, and `cue` the verb; each None if
    unknown. A quotation of several sentences is one quote in each. `certainty` is CERTAIN or PROBABLE if the
    name was resolved, and None if it is unknown how surely: in older enrichments and in many documents.
    """

    start: int
    end: int
    speaker: str | None = None
    name: str | None = None
    cue: str | None = None
    certainty: str | None = None


class Sentence(Struct, frozen=True):
    """A sentence. `id` is unique in its index; features, parse and quotes are stored unchanged.

    `paragraph` is the zero-based index of its paragraph in the source text; None if unknown. If `quotes` is
    empty, the document does not say whether there are any.
    """

    id: str
    text: str
    features: Mapping[str, float] = field(default_factory=dict)
    parse: tuple[ParseWord, ...] | None = None
    paragraph: int | None = None
    quotes: tuple[Quote, ...] = ()


class Document(Struct, frozen=True):
    """A document. `date` is valid ISO 8601, as the source wrote it. Unknown fields are None or empty.

    `section` is the part of the newspaper or site. `metadata` is anything else that the source gives, as
    JSON.
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
    """The id of a sentence without an id in the source: `<document id>.s<n>`, n from 0."""
    return f"{default_id_prefix(document_id)}{position}"


def default_id_prefix(document_id: str) -> str:
    """The common beginning of the default sentence ids of a document; the position follows it."""
    return f"{document_id}.s"


def custom_id_positions(document: Document) -> list[int]:
    """The positions of sentences whose ids differ from the default ones."""
    prefix = default_id_prefix(document.id)
    return [n for n, sentence in enumerate(document.sentences) if sentence.id != f"{prefix}{n}"]


TEXT_FIELDS = ("title", "date", "source", "url", "language", "section")
LIST_FIELDS = ("authors", "keywords")
METADATA = "metadata"
DESCRIPTIVE_FIELDS = (
    "title",
    "date",
    "source",
    "url",
    "language",
    "authors",
    "section",
    "keywords",
    METADATA,
)
"""All descriptive fields, in the order in which they are written."""


def encode_fields(document: Document) -> dict[str, Any]:
    """The fields with a value, as JSON."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name in DESCRIPTIVE_FIELDS
        if (value := getattr(document, name)) is not None and value != () and value != {}
    }


def decode_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """All fields, as `Document` takes them, from the result of `encode_fields`."""
    return {
        **{name: data.get(name) for name in TEXT_FIELDS},
        **{name: tuple(data.get(name, ())) for name in LIST_FIELDS},
        METADATA: data.get(METADATA, {}),
    }
