"""The abbreviations and sentence starters of a language, read from its table `tables/<code>.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rules:
    """The tables of one language. Abbreviations come without their last full stop.

    titles            before names; a sentence never ends with one: "Lt."
    before_number     before numbers, where they end no sentence: "No. 5"
    inside            a sentence never ends with one: "e.g."
    either            a sentence ends with one if the next word is a starter: "in the U.S. He"
    final             a sentence ends with one if the next word has a capital: "etc. Paris"
    units             after numbers. A sentence ends with one before a capital, unless it has just begun
    starters          words that begin sentences
    speech            verbs of attributions: '"Why?" Smith asked.'
    ordinal_after     words before ordinals, which are numbers with a full stop: "am 7. Juli"
    ordinal_before    words after ordinals
    openers           words that begin a sentence wherever they have a capital, even without a mark before
    date_lines        the pattern of dates that are lines of their own, between a heading and the text
    capital_nouns     whether nouns have capitals
    lowercase_starts  whether sentences may begin with a small letter, as in informal text

    Derived from these:

    abbreviations       of all lists
    capitalised_inside  what `inside` has in small letters, with a capital: behind other words it is a name
    behind_digits       what may follow a digit without a blank: "5bn", "6p.m"
    """

    titles: frozenset[str] = _NONE
    before_number: frozenset[str] = _NONE
    inside: frozenset[str] = _NONE
    either: frozenset[str] = _NONE
    final: frozenset[str] = _NONE
    units: frozenset[str] = _NONE
    starters: frozenset[str] = _NONE
    speech: frozenset[str] = _NONE
    ordinal_after: frozenset[str] = _NONE
    ordinal_before: frozenset[str] = _NONE
    lowercase_starts: bool = False
    capital_nouns: bool = False
    openers: re.Pattern[str] | None = None
    date_lines: re.Pattern[str] | None = None
    abbreviations: frozenset[str] = _NONE
    capitalised_inside: frozenset[str] = _NONE
    behind_digits: frozenset[str] = _NONE

    @property
    def has_ordinals(self) -> bool:
        return bool(self.ordinal_after or self.ordinal_before)


@cache
def load_rules(code: str) -> Rules:
    """The rules of a language that has a table."""
    return parse_rules((files("esr.documents.sentences") / "tables" / f"{code}.toml").read_text("utf-8"))


def parse_rules(table: str) -> Rules:
    """The rules in a table, which is TOML: each list is a string of words."""
    fields: Mapping[str, Any] = tomllib.loads(table)
    abbreviations = {
        name: frozenset(form for word in words.split() for form in _forms(word))
        for name, words in fields.items()
        if name in _ABBREVIATIONS
    }
    words = {name: frozenset(fields.get(name, "").lower().split()) for name in _WORDS}
    return Rules(
        **abbreviations,
        **words,
        lowercase_starts=fields.get("lowercase_starts", False),
        capital_nouns=fields.get("capital_nouns", False),
        openers=_openers_pattern(fields.get("openers", "").split()),
        date_lines=_date_pattern(fields.get("date_lines", "")),
        abbreviations=frozenset().union(*abbreviations.values()),
        capitalised_inside=frozenset(
            word[0].upper() + word[1:] for word in fields.get("inside", "").split() if word == word.lower()
        ),
        behind_digits=frozenset().union(
            *(abbreviations.get(name, _NONE) for name in ("either", "final", "units"))
        ),
    )


def _openers_pattern(words: list[str]) -> re.Pattern[str] | None:
    """Finds the openers with a capital. They come first in the pattern, which makes the search fast."""
    return re.compile(rf"(?:{'|'.join(word.capitalize() for word in words)})\b[,'’]? ") if words else None


def _date_pattern(pattern: str) -> re.Pattern[str] | None:
    return re.compile(pattern.replace("\n", "")) if pattern else None


_ABBREVIATIONS = ("titles", "before_number", "inside", "either", "final", "units")
_WORDS = ("starters", "speech", "ordinal_after", "ordinal_before")


def _forms(word: str) -> tuple[str, ...]:
    """The spellings of an abbreviation. "Sat" does not stand for "sat", nor "d" for the D of "Vitamin D"."""
    if len(word) == 1:
        return (word,)
    if word != word.lower():
        return word, word.upper()
    return word, word[0].upper() + word[1:], word.upper()
