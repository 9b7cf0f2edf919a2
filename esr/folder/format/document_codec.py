"""The stored form of documents: one compressed JSON blob each.

Every hit reads a blob, so reading is optimized: ISA-L takes 0.6 of the time of zlib, msgspec 0.45 of that of
json, and `ShownDocument` skips all fields that hits do not show. Paragraphs are not in the blob but in a
column of the segment.
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
from esr.text.document import (
    Document,
    ParseWord,
    Quote,
    Sentence,
    decode_fields,
    default_sentence_id,
    encode_fields,
)

DECODE_ERRORS: tuple[type[Exception], ...] = (isal_zlib.IsalError, ValueError, LookupError, TypeError)  # type: ignore[assignment]
"""The exceptions that decoding a damaged blob raises."""
_LEVEL = 4  # of 9: most of the compression for a third of the time
NO_PARAGRAPH = 0
"""Value of the paragraph column where the paragraph is unknown. Known paragraphs are numbered from 1."""
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_document(document: Document, explicit_ids: Sequence[int]) -> bytes:
    """Encode a document as JSON.

    `explicit_ids` are the positions of the sentences whose id is not the default. Default ids are not stored,
    since they can be derived.
    """
    data: dict[str, Any] = {"id": document.id, **encode_fields(document)}
    explicit = frozenset(explicit_ids)
    data["sentences"] = [_encode_sentence(s, n not in explicit) for n, s in enumerate(document.sentences)]
    return _encode(data).encode()


def encode_paragraphs(document: Document) -> array[int]:
    """The paragraphs of a document's sentences as the column of the segment stores them."""
    return array(
        "I",
        [
            NO_PARAGRAPH if sentence.paragraph is None else sentence.paragraph + 1
            for sentence in document.sentences
        ],
    )


def compress(encoded: bytes) -> bytes:
    """Compress an encoded document to its blob."""
    return zlib.compress(encoded, _LEVEL)


def decode_texts(encoded: bytes) -> tuple[list[str], str | None, str | None]:
    """The sentence texts of an encoded document, its title, and its language."""
    data = read_json(encoded)
    return [row[0] for row in data["sentences"]], data.get("title"), data.get("language")


def _encode_sentence(sentence: Sentence, has_default_id: bool) -> list[Any]:
    """[text, id, features, parse, quotes], without trailing nulls."""
    if has_default_id and not sentence.features and sentence.parse is None and not sentence.quotes:
        return [sentence.text]  # nearly all sentences
    row: list[Any] = [
        sentence.text,
        None if has_default_id else sentence.id,
        dict(sentence.features) or None,
        sentence.parse,
        sentence.quotes or None,
    ]
    while row[-1] is None:
        row.pop()
    return row


def decode_paragraph(number: int) -> int | None:
    """Zero-based paragraph of a sentence, from its value in the column; None if unknown."""
    return None if number == NO_PARAGRAPH else number - 1


class StoredDocument:
    """A document decoded from its blob with all stored fields. Hits read less (`read_shown`)."""

    __slots__ = ("_data", "_rows", "id")

    def __init__(self, blob: bytes | memoryview) -> None:
        self._data: dict[str, Any] = read_json(isal_zlib.decompress(blob))
        self.id: str = self._data["id"]
        self._rows: list[list[Any]] = self._data["sentences"]

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, name: str) -> Any:
        """A field as it is stored, None if it has no value."""
        return self._data.get(name)

    def sentence_id(self, position: int) -> str:
        row = self._rows[position]
        explicit = row[1] if len(row) > 1 else None
        return default_sentence_id(self.id, position) if explicit is None else str(explicit)

    def document(self, paragraphs: npt.NDArray[np.integer[Any]]) -> Document:
        """The complete document. `paragraphs` are the values of its sentences in the column."""
        sentences = map(self._sentence, range(len(self)), paragraphs.tolist())
        return Document(self.id, tuple(sentences), **decode_fields(self._data))

    def _sentence(self, position: int, paragraph: int) -> Sentence:
        text, features, parse, quotes = (self._field(position, column) for column in (0, 2, 3, 4))
        words = None if parse is None else tuple(ParseWord(*word) for word in parse)
        return Sentence(
            self.sentence_id(position),
            text,
            features or {},
            words,
            decode_paragraph(paragraph),
            tuple(Quote(*quote) for quote in quotes or ()),
        )

    def _field(self, position: int, column: int) -> Any:
        row = self._rows[position]
        return row[column] if column < len(row) else None


_BYTES, _SENTENCE_BYTES = 800, 48
"""Memory in bytes of a document without its sentences, and of a sentence without its text."""


class ShownSentence(msgspec.Struct, array_like=True, gc=False):
    """A stored sentence, with the fields that hits show. Its id is None if it is the default.

    msgspec reads structs in two thirds of the time of lists and dicts.
    """

    text: str
    id: str | None = None


class ShownDocument(msgspec.Struct, gc=False):
    """A stored document, with the fields that its hits show."""

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
        """Approximate memory in bytes."""
        texts = sum([getsizeof(sentence.text) for sentence in self.sentences])
        return _BYTES + texts + _SENTENCE_BYTES * len(self.sentences)


_decode = msgspec.json.Decoder(ShownDocument).decode


def read_shown(blobs: Iterable[bytes | memoryview]) -> list[ShownDocument]:
    """Decode the blobs of documents, in their order."""
    # One step for all blobs at a time, so that its code is loaded into the processor's cache once.
    encoded = list(map(isal_zlib.decompress, blobs))
    try:
        return list(map(_decode, encoded))
    except msgspec.DecodeError:  # e.g. NaN or infinity, in fields that are not shown
        return [msgspec.convert(read_json(each), ShownDocument) for each in encoded]
