"""Documents as they are kept: one compressed blob each, texts and metadata together."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from esr.documents import Document, ParseWord, Sentence
from esr.documents.document import default_sentence_id

_LEVEL = 4  # of 9: most of the gain at a third of the time
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
METADATA = ("title", "date", "source", "url", "language")


def code(document: Document, own: Sequence[int]) -> bytes:
    """A document as JSON. Of its sentences, `own` have ids of their own; default ids are not stored, they are
    made again."""
    data: dict[str, Any] = {"id": document.id}
    data |= {key: value for key in METADATA if (value := getattr(document, key)) is not None}
    given = frozenset(own)
    data["sentences"] = [_sentence(s, n not in given) for n, s in enumerate(document.sentences)]
    return _encode(data).encode()


def packed(code: bytes) -> bytes:
    """The blob of a document, of its JSON."""
    return zlib.compress(code, _LEVEL)


def texts(code: bytes) -> tuple[list[str], str | None]:
    """The texts of a document's sentences, and its title, of its JSON."""
    data = json.loads(code)
    return [row[0] for row in data["sentences"]], data.get("title")


def _sentence(sentence: Sentence, default_id: bool) -> list[Any]:
    """[text, id, features, parse], cut where the rest is empty."""
    if default_id and not sentence.features and sentence.parse is None:
        return [sentence.text]  # as nearly all are
    row: list[Any] = [
        sentence.text,
        None if default_id else sentence.id,
        dict(sentence.features) or None,
        sentence.parse,
    ]
    while row[-1] is None:
        row.pop()
    return row


class Stored:
    """A document of its blob. Its sentences are had one by one: most answers want three of them."""

    def __init__(self, blob: bytes) -> None:
        data = json.loads(zlib.decompress(blob))
        self.id: str = data.pop("id")
        self._rows: list[list[Any]] = data.pop("sentences")
        self.metadata: dict[str, Any] = {key: data.get(key) for key in METADATA}

    def __len__(self) -> int:
        return len(self._rows)

    def text(self, number: int) -> str:
        return str(self._rows[number][0])

    def sentence_id(self, number: int) -> str:
        name = self._part(number, 1)
        return default_sentence_id(self.id, number) if name is None else str(name)

    def document(self) -> Document:
        """All of it."""
        return Document(self.id, tuple(map(self._sentence, range(len(self)))), **self.metadata)

    def _sentence(self, number: int) -> Sentence:
        features, parse = self._part(number, 2), self._part(number, 3)
        words = None if parse is None else tuple(ParseWord(*word) for word in parse)
        return Sentence(self.sentence_id(number), self.text(number), features or {}, words)

    def _part(self, number: int, place: int) -> Any:
        row = self._rows[number]
        return row[place] if place < len(row) else None
