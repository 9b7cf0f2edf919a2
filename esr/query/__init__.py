"""The query language: from what people type to groups of clauses, without any analyzer or index."""

from esr.query.chunks import split_field, write_value
from esr.query.parser import literal, parse
from esr.query.query import (
    FIELDS,
    METADATA_FIELD,
    TEXT,
    Clause,
    Field,
    Form,
    Group,
    Note,
    NoteKind,
    ParsedQuery,
    Role,
    ValueKind,
    across_languages,
    date_start,
    find_field,
    in_language,
    read_languages,
)

__all__ = [
    "FIELDS",
    "METADATA_FIELD",
    "TEXT",
    "Clause",
    "Field",
    "Form",
    "Group",
    "Note",
    "NoteKind",
    "ParsedQuery",
    "Role",
    "ValueKind",
    "across_languages",
    "date_start",
    "find_field",
    "in_language",
    "literal",
    "parse",
    "read_languages",
    "split_field",
    "write_value",
]
