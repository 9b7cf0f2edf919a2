"""Notes: what looks like syntax in a query and is read as words, and what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class NoteKind(StrEnum):
    """What a note is about."""

    OR = "or"
    NOT = "not"
    AND = "and"
    SIGN = "sign"
    SEVERAL_SIGNS = "several signs"
    STAR = "star"
    QUOTE = "quote"
    EMPTY_PHRASE = "empty phrase"
    PARENTHESIS = "parenthesis"
    MISSPELT_FIELD = "misspelt field"
    UNKNOWN_FIELD = "unknown field"
    MISSING_VALUE = "missing value"
    BAD_VALUE = "bad value"
    SIGN_IN_VALUE = "sign in value"


class Note(NamedTuple):
    """What was not read as it may have been meant: the characters from `start` to `end`, and a message."""

    start: int
    end: int
    kind: NoteKind
    message: str


MESSAGES = {
    NoteKind.OR: "OR is read as a word: on both sides it needs something to find, not to exclude.",
    NoteKind.NOT: "NOT is read as a word: it needs a word, a phrase or a field to exclude after it.",
    NoteKind.AND: "AND is read as a word. To require a word, put + directly before it.",
    NoteKind.SIGN: "This sign has no effect: put it directly before a word, a phrase or a field.",
    NoteKind.SEVERAL_SIGNS: "Several signs have no effect: put one before a word, a phrase or a field.",
    NoteKind.STAR: "The star has no effect: it works only once, and at the end of a word.",
    NoteKind.QUOTE: "This quotation mark has no effect: close it at the end of the phrase.",
    NoteKind.EMPTY_PHRASE: "These quotes have no effect: there is no letter or digit between them.",
    NoteKind.PARENTHESIS: "Parentheses do not group: OR joins only what is directly beside it.",
    NoteKind.MISSPELT_FIELD: "There is no field {name}: did you mean {nearest}:?",
    NoteKind.UNKNOWN_FIELD: "There is no field {name}: the fields are {known}.",
    NoteKind.MISSING_VALUE: "This is read as a word: put a value directly after the colon, as in {example}.",
    NoteKind.BAD_VALUE: "This is read as words: {field}: takes {expected}.",
    NoteKind.SIGN_IN_VALUE: "This is read as words: put the sign before the field, as in -{example}.",
}


def write_note(start: int, end: int, kind: NoteKind, **values: str) -> Note:
    """The note of that kind. `values` are what its message names."""
    return Note(start, end, kind, MESSAGES[kind].format(**values))
