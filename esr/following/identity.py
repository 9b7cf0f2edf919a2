"""What identifies a sentence over loads: its document and its text, not its place among the others."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from esr.documents.attributes import value_key
from esr.engines.index import SentenceRecord
from esr.hashing import hash64

_NAMESPACE = uuid.UUID("6f5a4c1e-0b7d-5c52-9a63-3c8c1b1f6f0e")


def text_digest(text: str) -> str:
    """16 hexadecimal digits of a sentence, without regard to case and white space."""
    return f"{hash64(value_key(text)):016x}"


def sentence_urn(record: SentenceRecord) -> str:
    """The name of a sentence of a document, the same after every load that keeps the document's id."""
    return _urn(f"{record.document_id}\n{text_digest(record.text)}")


def feed_urn(parts: Iterable[tuple[str, str]]) -> str:
    """The name of the feed of a search: the same for the same parts in any order, on any host."""
    return _urn("\n".join(sorted(f"{name}={value}" for name, value in parts)))


def _urn(name: str) -> str:
    # An id may hold half of a surrogate pair, which UTF-8 cannot encode.
    return uuid.uuid5(_NAMESPACE, name.encode("utf-8", "replace").decode()).urn
