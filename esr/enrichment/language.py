"""Whether a text is English, as far as that is certain."""

from __future__ import annotations

import re

_ENGLISH = frozenset({"en", "eng", "english"})


def is_english(language: str | None) -> bool | None:
    """Whether a document's language is English: "en", "en-GB", "eng" and "English" are. None: unknown."""
    return None if language is None else re.split("[-_]", language.strip().lower())[0] in _ENGLISH


def is_latin(text: str) -> bool:
    """There are letters, and at least half of them are Latin: not so for Russian, an emoji or a number."""
    if text.isascii():
        return any(map(str.isalpha, text))
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and 2 * sum(map(_is_latin_letter, letters)) >= len(letters)


def _is_latin_letter(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter < "\u1f00" or "\ufb00" <= letter < "\ufb07"
