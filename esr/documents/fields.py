"""The fields that say what is known of a document, as JSON and as a `Document` has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.documents.document import Document

TEXT_FIELDS = ("title", "date", "source", "url", "language", "section")
LIST_FIELDS = ("authors", "keywords")
METADATA = "metadata"
DESCRIPTIVE_FIELDS = (
    "title",
    "date",
    "source",
    "url",
    "language",
    "authors",
    "section",
    "keywords",
    METADATA,
)
"""All of them, in the order in which they are written."""


def encode_fields(document: Document) -> dict[str, Any]:
    """The fields that have a value, as JSON."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name in DESCRIPTIVE_FIELDS
        if (value := getattr(document, name)) is not None and value != () and value != {}
    }


def decode_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """All fields, as `Document` takes them, from those that `encode_fields` wrote."""
    return {
        **{name: data.get(name) for name in TEXT_FIELDS},
        **{name: tuple(data.get(name, ())) for name in LIST_FIELDS},
        METADATA: data.get(METADATA, {}),
    }
