"""The word after a mark, and how it begins."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from esr.stdlib import compile_lazily

# A dash, quotes, brackets and currency signs may precede the word.
_WORD = compile_lazily(r"(?:[—–-]+ ?)?(?:[\"'“‘„«»‹›”’(\[{¿¡`*_$€£¥₹]|,, ?)*([^\W_]*)")
# No sentence begins with these characters.
_CONTINUATION = frozenset(".,;:!?…)]}/%=<>|。、，；：）」』】")


class Beginning(Enum):
    """How the text after a mark begins."""

    UPPER = "a capital"
    LOWER = "a small letter"
    UNCASED = "a letter of a script without capitals"
    DIGIT = "a digit"
    SIGN = "another sign"
    CONTINUATION = "a mark that no sentence begins with"


class Following(NamedTuple):
    """The next word: its position, how it begins, and whether it is an initial such as "A."."""

    start: int
    word: str
    beginning: Beginning
    is_initial: bool


def following(text: str, end: int) -> Following:
    """Find the next word from `end` on."""
    match = _WORD.match(text, end)
    assert match  # the pattern matches the empty string
    word = match[1]
    is_initial = len(word) == 1 and text[match.end() : match.end() + 1] == "."
    return Following(match.start(1), word, _beginning(word[0]) if word else _sign(text, end), is_initial)


def _beginning(character: str) -> Beginning:
    if character.isupper():
        return Beginning.UPPER
    if character.islower():
        return Beginning.LOWER
    return Beginning.DIGIT if character.isdigit() else Beginning.UNCASED


def _sign(text: str, end: int) -> Beginning:
    return Beginning.CONTINUATION if text[end : end + 1] in _CONTINUATION else Beginning.SIGN
