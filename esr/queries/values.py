"""What the values of a field have to look like."""

from __future__ import annotations

import re

from esr.documents.dates import is_iso_date, normalise_date, parse_date_start
from esr.queries.fields import ValueKind
from esr.queries.query import Clause

EXPECTED = {
    ValueKind.WORDS: "a word, a phrase in quotes, or the beginning of a word with a star",
    ValueKind.NAME: "a whole name, in quotes if it has spaces or a star",
    ValueKind.DATE: "a date such as 2017, 2017-03 or 2017-03-15",
    ValueKind.CODE: "a code such as de or pt-BR",
}
"""By kind, what a message says that a field takes."""

_CODE = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", re.ASCII | re.IGNORECASE)


def has_letter_or_digit(text: str) -> bool:
    """Is there anything to search for?"""
    return any(map(str.isalnum, text))


def is_valid(kind: ValueKind, value: str, is_quoted: bool) -> bool:
    """Can a field of that kind have this value? Quotes make a star part of a name."""
    if not has_letter_or_digit(value):
        return False
    match kind:
        case ValueKind.WORDS:
            return True
        case ValueKind.NAME:
            return is_quoted or "*" not in value
        case ValueKind.DATE:
            return is_iso_date(value)
        case ValueKind.CODE:
            return _CODE.fullmatch(value) is not None


def date_start(clause: Clause) -> int:
    """The beginning of the date of a clause, such as `before:2017-03`, in milliseconds since the epoch.

    Before a date is what is earlier than its beginning, after it what is not.
    """
    return parse_date_start(normalise_date(clause.text))
