"""Documents as the fields of a JSON line, from which `parse_document` makes the same document again."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from esr.documents.document import Document, Sentence, default_sentence_id
from esr.documents.fields import encode_fields


def to_fields(document: Document) -> dict[str, Any]:
    """The fields that have a value. A sentence's id is omitted where it is the default one."""
    fields: dict[str, Any] = {"id": document.id, **encode_fields(document)}
    fields["sentences"] = [
        _sentence_fields(sentence, default_sentence_id(document.id, n))
        for n, sentence in enumerate(document.sentences)
    ]
    return fields


def to_json_line(document: Document) -> str:
    """The document as a line of JSON Lines, without the line end."""
    return json.dumps(to_fields(document), ensure_ascii=False, separators=(",", ":"))


def checksum(document: Document) -> str:
    """32 hex digits that are equal for equal documents on any machine, whatever the order of features."""
    code = json.dumps(to_fields(document), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return blake2b(code.encode(), digest_size=16).hexdigest()


def _sentence_fields(sentence: Sentence, default_id: str) -> dict[str, Any]:
    fields: dict[str, Any] = {} if sentence.id == default_id else {"id": sentence.id}
    fields["text"] = sentence.text
    if sentence.paragraph is not None:
        fields["paragraph"] = sentence.paragraph
    if sentence.features:
        fields["features"] = dict(sentence.features)
    if sentence.parse is not None:
        fields["parse"] = [{"word": word.word, "head": word.head} for word in sentence.parse]
    return fields
