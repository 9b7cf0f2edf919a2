"""Splits paragraphs of scripts with blanks between words.

It finds marks, and decides which of them end a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from esr.stdlib import compile_lazily
from esr.text.splitting.full_stops import period_ends_sentence
from esr.text.splitting.headings import split_at_openers
from esr.text.splitting.next_word import Beginning, Following, following
from esr.text.splitting.rules import Rules

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
