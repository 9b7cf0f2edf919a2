"""Decides which full stops end a sentence.

The others belong to an abbreviation, an initial, a number or an ordinal.
"""

from __future__ import annotations

import re

from esr.stdlib import compile_lazily
from esr.text.splitting.next_word import Beginning, Following
from esr.text.splitting.rules import Rules

LONGEST_ORDINAL = 2
"""Maximum number of digits of an ordinal: "am 31. Mai", but "im Jahr 2016. Ende Mai"."""
LONGEST_ENUMERATOR = 3
"""Maximum number of digits of an enumerator: "12. The next item"."""
SHORTEST_PLAIN_WORD = 5
"""Minimum number of letters of a word whose full stop ends a sentence before a small letter.

A shorter word may be an abbreviation missing from the tables.
"""
SHORTEST_PLAIN_WORD_OF_FULL_TABLE = 3
OPENING_WORDS = 4
"""A unit among the first words, this many, does not end the sentence: "В 1999 г. Россия"."""

NEAR = 100
"""Number of characters examined before an abbreviation, since a sentence may be endless."""

_OPENING = "\"'“‘„«»‹›([{¿¡`*_<#$€£¥₹"
# A word after a hyphen, an elision or a mark without a blank, but not a single letter: "Vitamin-D", "geht's".
_LAST_PART = compile_lazily(r"(?<=[-–—/'’\"“”‘„«(\[,:;])[^-–—/'’\"“”‘„«(\[,:;]{2,}$")
# "U.S", "J.-C", "d'A"; in scripts of India "बी.सी", and in those where a full stop ends few short words also
# "கே".
_INITIALISM = compile_lazily(
    r"(?:[dlDL]['’])?(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}"
    r"|[dlDL]['’][A-Z]"
    r"|(?:[\u0900-\u0dff]{1,3}\.)+[\u0900-\u0dff]{1,3}"
    r"|[\u0b80-\u0d7f]{1,3}"
)
_SECTION = compile_lazily(r"\d+(?:\.\d+)+")
_ROMAN = compile_lazily(r"[IVXLC]+")
# In Korean and Hungarian: "2024. 3. 5."
_YEAR_FIRST_DATE = compile_lazily(r"\b\d{4}\. ?\d{1,2}\. ?\d{1,2}\.", re.ASCII)
_LONGEST_DATE = 14
_ADDRESS = compile_lazily(r"\S*?(?:\.\w|@|/\w|://)")
# In a dateline: "MOSCOW, March 9. /TASS/. Russia"
_AGENCY = compile_lazily(r"/[\w ]+/")
_DASH = compile_lazily(r"[—–-]")
_OPENING_QUOTE = compile_lazily(r"[\"“‘„«]$")


def period_ends_sentence(text: str, start: int, period: int, after: Following, rules: Rules) -> bool:
    """Whether the full stop at `period` ends the sentence that began at `start`."""
    word_start = max(text.rfind(" ", start, period) + 1, start)
    word = text[word_start:period].lstrip(_OPENING)
    if after.beginning is Beginning.LOWER:
        return _ends_before_small_letter(text, period, word, after, rules)
    if not word:
        return True
    if word.isalpha() and len(word) > 1 and word not in rules.abbreviations:
        return not (rules.has_ordinals and _ROMAN.fullmatch(word)) or _begins_sentence(after, rules)
    if _AGENCY.fullmatch(word):
        return False
    if word.isdigit() or _SECTION.fullmatch(word):
        return _number_ends_sentence(text, start, word_start, word, after, rules)
    before = text[max(start, word_start - NEAR) : word_start].rstrip(" ")
    return _abbreviation_ends_sentence(before, word, text[period + 1 : after.start], after, rules)


def _begins_sentence(after: Following, rules: Rules) -> bool:
    if after.is_initial or after.beginning is Beginning.DIGIT:
        return False
    return after.word.replace("İ", "i").lower() in rules.starters


def _ends_before_small_letter(text: str, period: int, word: str, after: Following, rules: Rules) -> bool:
    """Whether a sentence ends there: after a longer word, before an address, or before a quotation."""
    between = text[period + 1 : after.start]
    if not word.isalpha() or word in rules.abbreviations or _DASH.search(between):
        return False
    if between == " ":
        shortest = SHORTEST_PLAIN_WORD_OF_FULL_TABLE if rules.lowercase_starts else SHORTEST_PLAIN_WORD
        is_plain = word.islower() and len(word) >= shortest
        return is_plain or (len(word) > 1 and bool(_ADDRESS.match(text, after.start)))
    # Not after a closing quote: '"We left." he said'
    return between.startswith(" ") and len(word) > 1 and bool(_OPENING_QUOTE.search(between))


_BULLETS = compile_lazily(r"[ •‣⁃◦▪●■–—*·-]*")


def _number_ends_sentence(
    text: str, start: int, word_start: int, word: str, after: Following, rules: Rules
) -> bool:
    is_first = bool(_BULLETS.fullmatch(text, start, word_start))
    if is_first and (len(word) <= LONGEST_ENUMERATOR or not word.isdigit()):
        return False
    near = max(start, word_start - _LONGEST_DATE)
    dates = _YEAR_FIRST_DATE.finditer(text, near, word_start + _LONGEST_DATE)
    if any(date.start() <= word_start < date.end() for date in dates):
        return False
    if not rules.has_ordinals or len(word) > LONGEST_ORDINAL:
        return True
    if after.beginning is Beginning.DIGIT or after.word.lower() in rules.ordinal_before:
        return False
    if _begins_sentence(after, rules):
        return True
    before = max(text.rfind(" ", start, word_start - 1) + 1, start)
    return text[before : word_start - 1].lstrip(_OPENING).lower() not in rules.ordinal_after


def _abbreviation_ends_sentence(before: str, word: str, between: str, after: Following, rules: Rules) -> bool:
    """Decide from the text before the word, and the text between its full stop and the next word."""
    is_capital = after.beginning in (Beginning.UPPER, Beginning.UNCASED)
    begins_sentence = _begins_sentence(after, rules)
    unit = word.lstrip("0123456789.,")
    last_part = _LAST_PART.search(word)
    # "т. д." equals "т.д."
    word_before = before.rpartition(" ")[2]
    spaced = word_before + word if word_before.endswith(".") else word
    for form in (spaced, word, unit, last_part[0] if last_part else word):
        # After a digit, only a unit is an abbreviation: "5bn", but not "1st".
        if form not in rules.abbreviations or (form == unit != word and form not in rules.behind_digits):
            continue
        if _DASH.search(between):
            return begins_sentence and between.startswith("-")  # a dash instead of a blank: "the U.S.- The"
        if form == unit != word and "." not in form and not rules.capital_nouns:
            return is_capital  # writers of "5bn" omit the full stop
        if form in rules.units and (unit != word or _ends_with_number(before)):
            return is_capital and (begins_sentence or before.count(" ") >= OPENING_WORDS)
        if form in rules.titles or form in rules.inside:
            return begins_sentence and _is_other_word(form, before, after, rules)
        if form in rules.before_number and _is_number(after):
            return False
        if form in rules.final:
            return is_capital
        if form in rules.either:
            return begins_sentence
    if (len(word) == 1 and word < "\u2e80") or _INITIALISM.fullmatch(word):
        return begins_sentence and bool(before)
    return True


def _is_other_word(form: str, before: str, after: Following, rules: Rules) -> bool:
    """Whether the form is not an abbreviation but an acronym, "the MS. He", or a name, "von Max. Er"."""
    if len(form) > 1 and form.isupper():
        return not after.word.isupper()
    return bool(before) and form in rules.capitalised_inside


def _is_number(after: Following) -> bool:
    # "No. I" begins a sentence.
    return after.beginning is Beginning.DIGIT or (len(after.word) > 1 and bool(_ROMAN.fullmatch(after.word)))


def _ends_with_number(text: str) -> bool:
    word = text.rpartition(" ")[2]
    return word[-1:].isdigit() or bool(_ROMAN.fullmatch(word))
