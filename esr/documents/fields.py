"""A document as the fields of a line of JSON Lines: what `validate.document` makes the same document of."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from esr.documents.document import Document, Sentence, default_sentence_id

METADATA = ("title", "date", "source", "url", "language")


def fields(document: Document) -> dict[str, Any]:
    """The fields that are known. A sentence's id is left out where it is the one it would be given."""
    known = {name: getattr(document, name) for name in METADATA}
    found: dict[str, Any] = {"id": document.id}
    found |= {name: value for name, value in known.items() if value is not None}
    found["sentences"] = [
        _sentence(each, default_sentence_id(document.id, n)) for n, each in enumerate(document.sentences)
    ]
    return found


def line(document: Document) -> str:
    """The document as a line of JSON Lines, without its end."""
    return json.dumps(fields(document), ensure_ascii=False, separators=(",", ":"))


def checksum(document: Document) -> str:
    """32 hex digits that are the same wherever the document is the same, whatever the order of features."""
    code = json.dumps(fields(document), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return blake2b(code.encode(), digest_size=16).hexdigest()


def _sentence(sentence: Sentence, default_id: str) -> dict[str, Any]:
    found: dict[str, Any] = {} if sentence.id == default_id else {"id": sentence.id}
    found["text"] = sentence.text
    if sentence.features:
        found["features"] = dict(sentence.features)
    if sentence.parse is not None:
        found["parse"] = [{"word": word.word, "head": word.head} for word in sentence.parse]
    return found
