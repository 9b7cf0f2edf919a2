"""Documents as they are stored: one compressed blob each, with its texts and what is known of it.

ISA-L takes 0.6 of the time of zlib to read a blob, and msgspec 0.45 of that of json.
Numbers of paragraphs are not in the blob: a segment has a column of them.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from esr.documents import Document, ParseWord, Sentence
from esr.documents.document import default_sentence_id
from esr.documents.fields import decode_fields, encode_fields
from esr.engines.json_reader import read_json

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
