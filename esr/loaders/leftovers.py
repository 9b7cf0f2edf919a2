"""What a source gives beyond the fields of a document: it is kept as metadata."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from esr.documents.fields import METADATA


def collect_metadata(given: Mapping[str, Any], used: Set[str]) -> dict[str, Any]:
    """The metadata of a record: its own, and the values of all columns that are not used.

    A column that is used may be inside an object: `source.name`. What is blank is left out. What the record's
    own metadata has under the same key takes precedence.
    """
    own = given.get(METADATA)
    rest: dict[str, Any] = {}
    for name, value in given.items():
        if name in used or (name == METADATA and isinstance(value, dict)):
            continue
        if isinstance(value, dict):
            value = {inner: value[inner] for inner in value if f"{name}.{inner}" not in used}
        if not _is_blank(value):
            rest[name] = value
    return {**rest, **own} if isinstance(own, dict) else rest


def _is_blank(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())
