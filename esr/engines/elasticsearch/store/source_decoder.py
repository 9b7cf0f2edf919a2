"""Decodes documents and sentences from the `_source` that Elasticsearch stores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from esr.documents import Document, ParseWord, Sentence
from esr.documents.fields import LIST_FIELDS, METADATA, decode_fields
from esr.engines.entities import ENTITY_TYPES
from esr.engines.index import SentenceRecord

WITHOUT_CONTEXT: Mapping[str, Any] = {"excludes": ["context"]}
"""The parts of a document's `_source` that `decode_document` needs."""
_RECORD_FIELDS = [
    name for name in SentenceRecord._fields if name not in ("features", "entities", *LIST_FIELDS)
]


def decode_document(source: Mapping[str, Any]) -> Document:
    """A document as it was loaded."""
    sentences = tuple(
        Sentence(
            stored["id"],
            stored["text"],
            stored.get("features", {}),
            tuple(ParseWord(*word) for word in stored["parse"]) if "parse" in stored else None,
            stored.get("paragraph"),
        )
        for stored in source["sentences"]
    )
    fields = decode_fields(source)
    fields["date"] = source.get("given_date", fields["date"])
    fields[METADATA] = json.loads(source.get("given_metadata", "{}"))
    return Document(source["document_id"], sentences, **fields)


def decode_sentence(source: Mapping[str, Any]) -> SentenceRecord:
    """A sentence as search results show it."""
    entities = source.get("entities")
    if entities is not None:
        entities = {type: tuple(entities[type]) for type in ENTITY_TYPES if type in entities}
    fields: dict[str, Any] = {name: source.get(name) for name in _RECORD_FIELDS}
    fields |= {name: tuple(source.get(name, ())) for name in LIST_FIELDS}
    return SentenceRecord(**fields, features=source.get("features", {}), entities=entities)
