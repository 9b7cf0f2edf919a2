"""Documents as they are stored: one compressed blob each, with its texts and what is known of it.

ISA-L takes 0.6 of the time of zlib to read a blob, and msgspec 0.45 of that of json.
Numbers of paragraphs are not in the blob: a segment has a column of them.

What sentences show of their document, read from its blob without the rest.

Each hit reads a blob. msgspec makes objects of these types in two thirds of the time of lists and dicts, and
skips what they do not name.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from sys import getsizeof
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from esr.json_text import read_json
from esr.text.document import Document, ParseWord, Sentence, decode_fields, default_sentence_id, encode_fields

_LEVEL = 4  # of 9: most of the gain for a third of the time
NO_PARAGRAPH = 0
"""In the column of paragraphs, whose numbers begin with 1: it is unknown."""
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_document(document: Document, explicit_ids: Sequence[int]) -> bytes:
    """A document as JSON.

    `explicit_ids` are the positions of the sentences whose id is not the default. Default ids are not
    stored, since they can be derived.
    """
    data: dict[str, Any] = {"id": document.id, **encode_fields(document)}
    explicit = frozenset(explicit_ids)
    data["sentences"] = [_encode_sentence(s, n not in explicit) for n, s in enumerate(document.sentences)]
    return _encode(data).encode()


def encode_paragraphs(document: Document) -> array[int]:
    """The numbers of the sentences' paragraphs as the column of a segment has them."""
    return array(
        "I",
        [
            NO_PARAGRAPH if sentence.paragraph is None else sentence.paragraph + 1
            for sentence in document.sentences
        ],
    )


def compress(encoded: bytes) -> bytes:
    """The blob of an encoded document."""
    return zlib.compress(encoded, _LEVEL)


def decode_texts(encoded: bytes) -> tuple[list[str], str | None]:
    """The texts of the sentences of an encoded document, and its title."""
    data = read_json(encoded)
    return [row[0] for row in data["sentences"]], data.get("title")


def _encode_sentence(sentence: Sentence, has_default_id: bool) -> list[Any]:
    """[text, id, features, parse], without trailing nulls."""
    if has_default_id and not sentence.features and sentence.parse is None:
        return [sentence.text]  # as nearly all are
    row: list[Any] = [
        sentence.text,
        None if has_default_id else sentence.id,
        dict(sentence.features) or None,
        sentence.parse,
    ]
    while row[-1] is None:
        row.pop()
    return row


def decode_paragraph(number: int) -> int | None:
    """The number of a sentence's paragraph, from 0, by its number in the column."""
    return None if number == NO_PARAGRAPH else number - 1


class StoredDocument:
    """A document decoded from its blob, with all that is stored. Hits read less (`shown_document`)."""

    __slots__ = ("_data", "_rows", "id")

    def __init__(self, blob: bytes | memoryview) -> None:
        self._data: dict[str, Any] = read_json(isal_zlib.decompress(blob))
        self.id: str = self._data["id"]
        self._rows: list[list[Any]] = self._data["sentences"]

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, name: str) -> Any:
        """A field as it is stored, None without a value."""
        return self._data.get(name)

    def sentence_id(self, position: int) -> str:
        row = self._rows[position]
        explicit = row[1] if len(row) > 1 else None
        return default_sentence_id(self.id, position) if explicit is None else str(explicit)

    def document(self, paragraphs: npt.NDArray[np.integer[Any]]) -> Document:
        """The complete document. `paragraphs` are those of its sentences, from the column."""
        sentences = map(self._sentence, range(len(self)), paragraphs.tolist())
        return Document(self.id, tuple(sentences), **decode_fields(self._data))

    def _sentence(self, position: int, paragraph: int) -> Sentence:
        text, features, parse = (self._field(position, column) for column in (0, 2, 3))
        words = None if parse is None else tuple(ParseWord(*word) for word in parse)
        return Sentence(self.sentence_id(position), text, features or {}, words, decode_paragraph(paragraph))

    def _field(self, position: int, column: int) -> Any:
        row = self._rows[position]
        return row[column] if column < len(row) else None


_BYTES, _SENTENCE_BYTES = 800, 48
"""What a document takes beside its sentences, and a sentence beside its text."""


class ShownSentence(msgspec.Struct, array_like=True, gc=False):
    """A sentence as `document_codec` stores it, as far as hits show it. Without an id, it has the default."""

    text: str
    id: str | None = None


class ShownDocument(msgspec.Struct, gc=False):
    """A document with the fields that its sentences show."""

    id: str
    sentences: list[ShownSentence]
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    section: str | None = None
    keywords: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """About as many bytes of memory as it takes: its texts, the objects around them, and the rest."""
        texts = sum([getsizeof(sentence.text) for sentence in self.sentences])
        return _BYTES + texts + _SENTENCE_BYTES * len(self.sentences)


_decode = msgspec.json.Decoder(ShownDocument).decode


def read_shown(blobs: Iterable[bytes | memoryview]) -> list[ShownDocument]:
    """The documents of blobs, in their order."""
    # Step by step: what a step executes comes into the processor's cache once.
    encoded = list(map(isal_zlib.decompress, blobs))
    try:
        return list(map(_decode, encoded))
    except msgspec.DecodeError:  # such as numbers that JSON does not have, in what is not shown
        return [msgspec.convert(read_json(each), ShownDocument) for each in encoded]
