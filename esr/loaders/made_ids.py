"""Ids that are made for documents, where a source has none or none that is unique."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from esr.documents.fields import METADATA
from esr.loaders.format import Source
from esr.loaders.ids import make_id
from esr.loaders.mapping import FIELDS

POLICIES: dict[str, str] = {
    "url": "the address of the document",
    "content": "a digest of all that is said of it, so that equal documents have one id",
    "row": "its file and its number in it",
}
_CONTENT = (*(name for name in FIELDS if name != "id"), METADATA)
_DIGEST_BYTES = 16
# What is longer leaves no room for the ids of sentences.
_MAX_URL_BYTES = 480


class NoIdPossible(ValueError):
    """A document lacks what its id is made of."""


def make_requested_id(policy: str, fields: Mapping[str, Any], source: Source, number: int) -> str:
    """The id by one of POLICIES of the `number`-th document of a source. Raises NoIdPossible."""
    if policy == "url":
        return _make_from_url(fields.get("url"))
    if policy == "content":
        content = {name: fields[name] for name in _CONTENT if fields.get(name) is not None}
        return _digest(json.dumps(content, sort_keys=True))
    return make_id(f"{source.id_path}:{number}")


def choose_policy(fields: Mapping[str, Any]) -> str | None:
    """How the id of a document without one is made, or None if it has one, or nothing to make it of."""
    if fields.get("id") is not None:
        return None
    if fields.get("url"):
        return "url"
    return "content" if any(fields.get(name) for name in ("title", "text", "sentences")) else None


def _make_from_url(url: Any) -> str:
    """The address, or its digest if it is too long for an id."""
    if not isinstance(url, str) or not url.strip():
        raise NoIdPossible("the document has no url for --id url: use --mapping url=COLUMN, or another --id")
    id = make_id(url)
    return id if len(id.encode("utf-8", "surrogatepass")) <= _MAX_URL_BYTES else _digest(id)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
