"""Documents as they are stored: one compressed blob each, with its texts and what is known of it.

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

from esr.documents import Document, ParseWord, Sentence
from esr.documents.document import default_sentence_id
from esr.documents.fields import decode_fields, encode_fields

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
    data = json.loads(encoded)
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


class StoredDocument:
    """A document decoded from its blob. Sentences are built one by one: most callers want three of them."""

    def __init__(self, blob: bytes, paragraphs: npt.NDArray[np.integer[Any]]) -> None:
        """`paragraphs` are those of its sentences, from the column."""
        self._paragraphs = paragraphs
        data = json.loads(zlib.decompress(blob))
        self.id: str = data.pop("id")
        self._rows: list[list[Any]] = data.pop("sentences")
        self.fields: dict[str, Any] = decode_fields(data)
        """What is known of it, as `Document` takes it."""

    def __len__(self) -> int:
        return len(self._rows)

    def text(self, position: int) -> str:
        return str(self._rows[position][0])

    def sentence_id(self, position: int) -> str:
        explicit = self._field(position, 1)
        return default_sentence_id(self.id, position) if explicit is None else str(explicit)

    def paragraph(self, position: int) -> int | None:
        number = int(self._paragraphs[position])
        return None if number == NO_PARAGRAPH else number - 1

    def document(self) -> Document:
        """The complete document."""
        return Document(self.id, tuple(map(self._sentence, range(len(self)))), **self.fields)

    def _sentence(self, position: int) -> Sentence:
        features, parse = self._field(position, 2), self._field(position, 3)
        words = None if parse is None else tuple(ParseWord(*word) for word in parse)
        paragraph = self.paragraph(position)
        return Sentence(self.sentence_id(position), self.text(position), features or {}, words, paragraph)

    def _field(self, position: int, column: int) -> Any:
        row = self._rows[position]
        return row[column] if column < len(row) else None
