"""Documents and sentences, from the form that Elasticsearch keeps them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.documents import Document, ParseWord, Sentence
from esr.engines.entities import ENTITY_TYPES
from esr.engines.index import SentenceRecord

_PLAIN = [name for name in SentenceRecord.__dataclass_fields__ if name not in ("features", "entities")]


def document_of(source: Mapping[str, Any]) -> Document:
    """A document as it was loaded, from its stored form."""
    sentences = tuple(
        Sentence(
            s["id"],
            s["text"],
            s.get("features", {}),
            tuple(ParseWord(*word) for word in s["parse"]) if "parse" in s else None,
        )
        for s in source["sentences"]
    )
    known: dict[str, Any] = {
        name: source.get(name) for name in ("title", "date", "source", "url", "language")
    }
    known["date"] = source.get("given_date", known["date"])
    return Document(source["document_id"], sentences, **known)


def record_of(source: Mapping[str, Any]) -> SentenceRecord:
    """A sentence as it is shown."""
    entities = source.get("entities")
    if entities is not None:
        entities = {type: tuple(entities[type]) for type in ENTITY_TYPES if type in entities}
    known: dict[str, Any] = {name: source.get(name) for name in _PLAIN}
    return SentenceRecord(**known, features=source.get("features", {}), entities=entities)
