"""Documents as they are kept: one compressed blob each, texts and metadata together."""

from __future__ import annotations

import json
import zlib
from typing import Any

from esr.documents import Document, ParseWord, Sentence
from esr.documents.document import default_sentence_id

_LEVEL = 4  # of 9: most of the gain at a third of the time
METADATA = ("title", "date", "source", "url", "language")


def pack(document: Document) -> bytes:
    """A document as a blob. A default sentence id is not stored, it is made again."""
    data: dict[str, Any] = {"id": document.id}
    data |= {key: getattr(document, key) for key in METADATA if getattr(document, key) is not None}
    data["sentences"] = [
        _sentence(s, s.id == default_sentence_id(document.id, n)) for n, s in enumerate(document.sentences)
    ]
    return zlib.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), _LEVEL)


def _sentence(sentence: Sentence, default_id: bool) -> list[Any]:
    """[text, id, features, parse], cut where the rest is empty."""
    row: list[Any] = [
        sentence.text,
        None if default_id else sentence.id,
        dict(sentence.features) or None,
        sentence.parse,
    ]
    while row[-1] is None:
        row.pop()
    return row


def unpack(blob: bytes) -> Document:
    """The document that `pack` was given."""
    data = json.loads(zlib.decompress(blob))
    rows = [(*row, *[None] * (4 - len(row))) for row in data.pop("sentences")]
    sentences = tuple(
        Sentence(
            name if name is not None else default_sentence_id(data["id"], n),
            text,
            features or {},
            None if parse is None else tuple(ParseWord(*word) for word in parse),
        )
        for n, (text, name, features, parse) in enumerate(rows)
    )
    return Document(data.pop("id"), sentences, **data)
