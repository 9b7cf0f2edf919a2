"""Envelopes: the JSON objects that programs put around documents, such as `{"articles": [{…}, {…}]}`.

APIs answer with `articles`, `data`, `response` and `results`, databases export `_source` and `attributes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from esr.loaders.known_columns import is_in_field

_NAMES = frozenset(
    (
        *("article", "articles", "attributes", "data", "doc", "docs", "document", "documents", "entries"),
        *("feed", "hits", "item", "items", "news", "post", "posts", "records", "response", "result"),
        *("results", "rows", "stories", "story", "value", "@graph", "_source"),
    )
)
MAX_DEPTH = 4
"""How many envelopes may be around a document."""


def is_envelope_name(name: str) -> bool:
    """Whether envelopes use this name for the documents in them."""
    return name.lower() in _NAMES


def has_text(fields: Mapping[str, Any]) -> bool:
    """Whether these are the fields of a document with a text: then they are no envelope."""
    return "sentences" in fields or any(
        (isinstance(value, str) or _is_paragraphs(value)) and is_in_field(name, "text")
        for name, value in fields.items()
    )


def _is_paragraphs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, str) for element in value)


def is_document(value: Any) -> bool:
    """Whether this looks like a document: an object with a title, a text or an address under a known name."""
    return isinstance(value, dict) and any(is_in_field(name, "title", "text", "url") for name in value)


def open_envelopes(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The documents in a value, each with the path of names to it; the value itself if it is no envelope."""
    if isinstance(value, dict) and len(path) < MAX_DEPTH and not has_text(value):
        for name in filter(is_envelope_name, value):
            content = value[name]
            elements = content if isinstance(content, list) else [content]
            documents = [found for element in elements for found in open_envelopes(element, (*path, name))]
            if any(is_document(document) for _, document in documents):
                for inner_path, document in documents:
                    yield inner_path, document if content is elements else inherit_id(document, value)
                return
    yield path, value


def inherit_id(document: Any, envelope: Mapping[str, Any]) -> Any:
    """The document, with the id of its envelope if it has none: `{"_id": "7", "_source": {…}}`."""
    if not isinstance(document, dict) or any(is_in_field(name, "id") for name in document):
        return document
    id = next((value for name, value in envelope.items() if is_in_field(name, "id")), None)
    return document if id is None else {"id": id, **document}
