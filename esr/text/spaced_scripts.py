"""Splits scripts with blanks between words: finds marks, and decides which of them end a sentence.

The hard cases are full stops, which may belong to an abbreviation, an initial or an ordinal, and headings
that run into the text without a mark, as in text from web pages. The abbreviations and sentence starters of a
language are in its table `sentence_tables/<code>.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from esr.stdlib import compile_lazily
from esr.text.labels import find_links

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


# Tables of languages

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


_TABLES = Path(__file__).parent / "sentence_tables"


@cache
def load_rules(code: str) -> Rules:
    """Read the rules of a language that has a table."""
    return parse_rules((_TABLES / f"{code}.toml").read_text("utf-8"))


def parse_rules(table: str) -> Rules:
    """Parse the rules in a TOML table, in which each list is a string of words."""
    import tomllib  # slow to import

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


# Full stops

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


_BULLETS = " •‣⁃◦▪●■–—*·-"


def _number_ends_sentence(
    text: str, start: int, word_start: int, word: str, after: Following, rules: Rules
) -> bool:
    is_first = not text[start:word_start].strip(_BULLETS)
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
    word_before = text[start : word_start - 1].rpartition(" ")[2].lstrip(_OPENING)
    return word_before.lower() not in rules.ordinal_after


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


# Headings

# The last word of a heading: letters, a number, or a closing bracket or quote.
_HEADING_END = compile_lazily(r"(?:\w*[^\W\d_]|[\d.,:]*\d|\S*[^\s.,:;!?][)\]\"”»])$")
NEAR_OPENER = 40
"""Number of characters examined before an opener."""


def split_at_openers(sentence: str, rules: Rules) -> Iterator[str]:
    """Split the sentence at links, before each capitalised opener, and around dates that are lines."""
    for part in _split_at_links(sentence, rules):
        for piece in _split_at_date_lines(part, rules):
            yield from _split_at_words(piece, rules)


def _split_at_links(sentence: str, rules: Rules) -> Iterator[str]:
    start = 0
    for at in find_links(sentence, rules.starters, rules.capital_nouns):
        yield sentence[start : at - 1]
        start = at
    yield sentence[start:]


def _split_at_date_lines(sentence: str, rules: Rules) -> Iterator[str]:
    start = 0
    if rules.date_lines:
        for match in rules.date_lines.finditer(sentence):
            if not _is_date_line(sentence, max(start, match.start() - NEAR_OPENER), match, rules):
                continue
            for end in (match.start() - 1, match.end()):
                if end > start:
                    yield sentence[start:end]
                    start = end + 1
    yield sentence[start:]


def _is_date_line(sentence: str, near: int, match: re.Match[str], rules: Rules) -> bool:
    """Whether a capitalised word follows without a comma, and no preposition precedes: "on Friday, …"."""
    is_word = match.start() == 0 or sentence[match.start() - 1] == " "
    if not is_word or sentence[match.end() : match.end() + 1] != " ":
        return False
    before = sentence[near : match.start()].rstrip(" ").rpartition(" ")[2]
    is_apart = not before or (_HEADING_END.fullmatch(before) and before.lower() not in rules.starters)
    return bool(is_apart) and following(sentence, match.end() + 1).beginning is Beginning.UPPER


def _split_at_words(sentence: str, rules: Rules) -> Iterator[str]:
    start = 0
    if rules.openers:
        for match in rules.openers.finditer(sentence, 1):
            at = match.start()
            if sentence[at - 1] == " " and _is_opener(sentence, max(start, at - NEAR_OPENER), match, rules):
                yield sentence[start : at - 1]
                start = at
    yield sentence[start:]


def _is_opener(sentence: str, near: int, match: re.Match[str], rules: Rules) -> bool:
    word_before = sentence[near : match.start() - 1].rpartition(" ")[2]
    if not _HEADING_END.fullmatch(word_before) or word_before.lower() in rules.starters:
        return False
    if rules.capital_nouns:
        return True
    # Next to another capital, it is part of a name or title: "The Week In Politics", "In Flames".
    following_word = following(sentence, match.end())
    return following_word.beginning is Beginning.LOWER and not word_before[0].isupper()


# Sentences

LONGEST_WORD = 1000
"""Length above which a run without a blank becomes a separate sentence."""

# Marks with no other use, which end a sentence even without a blank after them.
_FULL_STOPS = "\u0f0d\u0f0e\u1367\u1368\u166e\u1803\u1c7e\u1c7f\uabeb\U00011141\U00011142。！？｡؟۔।॥։။។៕።"
_COMMON = ".!?…"
_MARKS = f"{_COMMON}{_FULL_STOPS}"
# After the question mark of Greek, but not after one letter, as in formulas; and after the full stop of
# Armenian that is typed as a colon.
_TYPED = r"(?<=[\u0370-\u03ff\u1f00-\u1fff]{2};)|(?<=[\u0561-\u0587]:)"
# In Ethiopic, two spaces between words stand for a full stop too. In Tibetan, shads have blanks between them.
_OF_SCRIPTS = rf"\u0f0d(?: ?\u0f0d)*|[;:](?:{_TYPED})|[{_MARKS}]++|፡፡"
_QUOTES = "\"'”’»›“‘«‹」』）】〕》〉"
# Closing quotes and brackets, numbers of notes such as "[12]", and the space of Ethiopic between words belong
# to the sentence before them.
_CLOSING = rf"(?:[{_QUOTES})\]}}፡]|&quot;|&#39;|\[\d{{1,3}}\])*"
_NOTES = r"(?: \[\d{1,3}\])*"
# A quote between blanks. Whether a straight quote opens or closes depends on the number of quotes before it.
_APART = r"(?: (?:[»”]|''|(?P<straight>\"))(?= ))?"
# These patterns never backtrack into a match. Lookaheads ensure this, since Python 3.11.0 to 3.11.4 match
# possessive groups incorrectly.
_AFTER = (
    rf"(?=(?P<closing>{_CLOSING}))(?P=closing)(?=(?P<notes>{_NOTES}))(?P=notes)"
    rf"(?=(?P<apart>{_APART}))(?P=apart)"
)
# Text from web pages lacks some blanks, or has a dash in place of one: 'so."He', "so.'He", "so.- He"
_BLANK = r"(?P<blank> |(?<=[.!?][\"”'’])(?=[A-Z]|- )|(?<=[.!?])(?=--? [\"'“‘]?[A-Z]))"
# The search for a pattern that begins with a set is several times as fast.
_BEFORE_BLANK = compile_lazily(rf"[{_COMMON}](?<![{_COMMON}]{{2}})[{_COMMON}]*+{_AFTER}{_BLANK}")
_ANYWHERE = compile_lazily(rf"(?<![{_MARKS}])(?:{_OF_SCRIPTS}){_AFTER}{_BLANK}?")
_HAS_FULL_STOP = compile_lazily(rf"[{_FULL_STOPS}፡;:](?:(?<=[{_FULL_STOPS}])|(?<=፡)፡|{_TYPED})")
_QUOTE = compile_lazily(f"[{_QUOTES}]")


def split_spaced_paragraph(paragraph: str, rules: Rules) -> Iterator[str]:
    """Yield the sentences of a paragraph, which must have single blanks."""
    for piece in _cut_out_endless_words(paragraph):
        start = 0
        for end in (*_ends(piece, rules), len(piece)):
            yield from split_at_openers(piece[start:end].rstrip(" "), rules)
            start = end


def _cut_out_endless_words(paragraph: str) -> list[str]:
    if len(paragraph) < LONGEST_WORD:
        return [paragraph]
    words = paragraph.split(" ")
    if len(max(words, key=len)) < LONGEST_WORD:
        return [paragraph]
    pieces: list[list[str]] = [[]]
    for word in words:
        if len(word) < LONGEST_WORD:
            pieces[-1].append(word)
        else:
            pieces += [word], []
    return [" ".join(piece) for piece in pieces if piece]


def _ends(text: str, rules: Rules) -> Iterator[int]:
    """Yield the ends of sentences within a text, after the blank."""
    has_full_stop = not text.isascii() and _HAS_FULL_STOP.search(text)
    start = straight_quotes = counted = 0
    for match in (_ANYWHERE if has_full_stop else _BEFORE_BLANK).finditer(text):
        mark, end = match.start(), match.end()
        if match["blank"] is None and not _HAS_FULL_STOP.search(match[0]):
            continue
        if match["straight"]:
            straight_quotes += text.count('"', counted, mark)
            counted = mark
            if straight_quotes % 2 == 0:  # it opens the next sentence
                end = match.start("straight")
        if end < len(text) and _ends_sentence(text, start, match, following(text, end), rules):
            yield end
            start = end


def _ends_sentence(text: str, start: int, match: re.Match[str], after: Following, rules: Rules) -> bool:
    """Whether the sentence that began at `start` ends with the matched mark."""
    if after.beginning is Beginning.CONTINUATION:
        return False
    mark = match.start()
    if text[mark] == "." and text[mark + 1] != ".":
        return period_ends_sentence(text, start, mark, after, rules)
    if text[mark] in "!?":
        if after.beginning is Beginning.LOWER:
            return rules.lowercase_starts and not match["closing"] and not _is_name(text, start, mark)
        return not (rules.speech and _QUOTE.search(match["closing"]) and _is_attribution(text, after, rules))
    if text[mark] in ".…;:":
        return after.beginning not in (Beginning.LOWER, Beginning.UNCASED)
    return True


def _is_name(text: str, start: int, mark: int) -> bool:
    """Whether the word before the mark is a name within a sentence: "owns Yahoo! and AOL"."""
    word_start = text.rfind(" ", start, mark) + 1
    return word_start > start and text[word_start:mark].istitle()


_SPEAKER = compile_lazily(r"(?:[A-Z][\w.'’-]*+ ){1,4}?([a-z]++)\b")


def _is_attribution(text: str, after: Following, rules: Rules) -> bool:
    """Whether the speaker follows: '"Why?" Smith asked.'"""
    if after.word.lower() in rules.starters:
        return False
    speaker = _SPEAKER.match(text, after.start)
    return speaker is not None and speaker[1] in rules.speech
