"""Constants: `--set source=Wire` gives every document of a delivery this source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from esr.documents.attributes import META_PREFIX
from esr.documents.fields import DESCRIPTIVE_FIELDS, LIST_FIELDS, METADATA
from esr.documents.json_values import InvalidDocument
from esr.documents.validate import build_document
from esr.errors import UsageError, unknown

CONSTANT_FIELDS = tuple(name for name in DESCRIPTIVE_FIELDS if name != METADATA)


def parse_constants(pairs: Iterable[str]) -> dict[str, Any]:
    """`["source=Wire", "meta.desk=Berlin"]` as the fields of a document. Raises UsageError.

    `authors` and `keywords` may be given several times, and so may a key of metadata; other fields once.
    """
    constants: dict[str, Any] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        key = name.removeprefix(META_PREFIX)
        if not name or not key or not value.strip():
            raise UsageError(
                f"--set needs FIELD=VALUE, such as source=Wire or meta.desk=Berlin, not {pair!r}"
            )
        if name.startswith(META_PREFIX):
            metadata = constants.setdefault(METADATA, {})
            metadata[key] = value if key not in metadata else [*_as_list(metadata[key]), value]
        elif name not in CONSTANT_FIELDS:
            raise unknown("field for --set", name, (*CONSTANT_FIELDS, f"{META_PREFIX}KEY"))
        elif name in LIST_FIELDS:
            constants.setdefault(name, []).append(value)
        elif name in constants:
            raise UsageError(f"--set {name} is duplicated: choose {constants[name]!r} or {value!r}")
        else:
            constants[name] = value
    try:
        build_document({"id": "checked", **constants})
    except InvalidDocument as error:
        raise UsageError(f"--set: {error}") from None
    return constants


def apply_constants(fields: Mapping[str, Any], constants: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with the constants in place of their own. Metadata keep the keys that no constant has."""
    applied = {**fields, **constants}
    if METADATA in constants and isinstance(fields.get(METADATA), dict):
        applied[METADATA] = {**fields[METADATA], **constants[METADATA]}
    return applied


def find_replaced(fields: Mapping[str, Any], constants: Mapping[str, Any]) -> Iterator[str]:
    """The names of the constants in whose place the fields have another value."""
    for name, value in constants.items():
        own = fields.get(name)
        if name == METADATA:
            own = own if isinstance(own, dict) else {}
            yield from (META_PREFIX + key for key in value if own.get(key, value[key]) != value[key])
        elif own and own != value:
            yield name


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
