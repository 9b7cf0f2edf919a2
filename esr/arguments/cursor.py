"""Cursors: texts that request the next page of a ranking, valid while the index is in the same state."""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

_TEXT = re.compile(r"([0-9]{1,6})\.([0-9a-f]{16})(?:\.(words|hybrid))?")


class Cursor(NamedTuple):
    """The beginning of a page, and the state of the index that it belongs to.

    `ranking` is the name of the default ranking of the pages before; empty if the request names a ranking.
    """

    offset: int
    state: str
    ranking: str = ""


def write_cursor(cursor: Cursor) -> str:
    """The cursor as an answer has it."""
    text = f"{cursor.offset}.{cursor.state}" + (f".{cursor.ranking}" if cursor.ranking else "")
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(text: str) -> Cursor | None:
    """The cursor that an answer has as this text; None for any other text."""
    try:
        match = _TEXT.fullmatch(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode())
    except (ValueError, binascii.Error):
        return None
    return match and Cursor(int(match[1]), match[2], match[3] or "")


def is_cursor(text: str) -> bool:
    """Whether a text is a cursor."""
    return read_cursor(text) is not None
