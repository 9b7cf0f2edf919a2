"""The query language: from what people type to groups of clauses. It knows no analyzer and no index."""

from esr.queries.fields import FIELDS, METADATA_FIELD, TEXT, Field, ValueKind, find_field
from esr.queries.notes import Note, NoteKind
from esr.queries.parser import literal, parse
from esr.queries.query import Clause, Form, Group, ParsedQuery, Role
from esr.queries.scanner import split_field, write_value
from esr.queries.values import date_start

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
    "date_start",
    "find_field",
    "literal",
    "parse",
    "split_field",
    "write_value",
]
