"""The tables of a language, by which its sentences are split: abbreviations, sentence starters, ordinals.

They are read from `sentence_tables/<code>.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import tomllib
else:
    tomllib = import_lazily("tomllib")

_NONE: frozenset[str] = frozenset()


class Rules(Struct, frozen=True):
    """The tables of one language. Abbreviations are written without their last full stop.

        titles            precede names; a sentence never ends with one: "Lt."
        before_number     precede numbers, where they end no sentence: "No. 5"
        inside            a sentence never ends with one: "e.g."
        either            a sentence ends with one if the next word is a starter: "in the U.S. He"
        final             a sentence ends with one if the next word has a capital: "etc. Paris"
        units             follow numbers; a sentence ends with one before a capital, unless it has just begun
        starters          words that begin sentences
        speech            verbs of attributions: '"Why?" Smith asked.'
        ordinal_after     words before ordinals, which are numbers with a full stop: "am 7. Juli"
        ordinal_before    words after ordinals
        openers           words that begin a sentence whenever they have a capital, even without a mark before
        date_lines        the pattern of dates that are lines of their own, between a heading and the text
        capital_nouns     whether nouns have capitals
        lowercase_starts  whether sentences may begin with a small letter, as in informal text

    Derived from these:

        abbreviations       all abbreviations
        capitalised_inside  lower-case entries of `inside`, capitalised: after other words they are names
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


_TABLES = Path(__file__).parent.parent / "sentence_tables"


@cache
def load_rules(code: str) -> Rules:
    """Read the rules of a language that has a table."""
    return parse_rules((_TABLES / f"{code}.toml").read_text("utf-8"))


def parse_rules(table: str) -> Rules:
    """Parse the rules in a TOML table, in which each list is a string of words."""
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
    """Build a pattern for capitalised openers, which begins with them to make the search fast."""
    return re.compile(rf"(?:{'|'.join(word.capitalize() for word in words)})\b[,'’]? ") if words else None


def _date_pattern(pattern: str) -> re.Pattern[str] | None:
    return re.compile(pattern.replace("\n", "")) if pattern else None


_ABBREVIATIONS = ("titles", "before_number", "inside", "either", "final", "units")
_WORDS = ("starters", "speech", "ordinal_after", "ordinal_before")


def _forms(word: str) -> tuple[str, ...]:
    """The spellings of an abbreviation. "Sat" does not imply "sat", nor "d" the D of "Vitamin D"."""
    if len(word) == 1:
        return (word,)
    if word != word.lower():
        return word, word.upper()
    return word, word[0].upper() + word[1:], word.upper()
