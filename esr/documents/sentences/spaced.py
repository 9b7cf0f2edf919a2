"""Splits scripts with blanks between words: finds the marks, and decides which of them end a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from esr.documents.sentences.following import Beginning, Following, following
from esr.documents.sentences.openers import split_at_openers
from esr.documents.sentences.periods import period_ends_sentence
from esr.documents.sentences.rules import Rules

LONGEST_WORD = 1000
"""A longer run without a blank becomes a sentence of its own."""

# These have no other use, so they end a sentence even without a blank behind them.
_FULL_STOPS = "。！？｡؟۔।॥։။។៕።"
_MARKS = f".!?…{_FULL_STOPS}"
_QUOTES = "\"'”’»›“‘«‹」』）】〕》〉"
# Closing quotes and brackets, and the numbers of notes, "[12]", belong to the sentence before them.
_CLOSING = rf"(?:[{_QUOTES})\]}}]|&quot;|&#39;|\[\d{{1,3}}\])*"
_NOTES = r"(?: \[\d{1,3}\])*"
# A quote between blanks. Whether a straight one opens or closes depends on the number of those before it.
_APART = r"(?: (?:[»”]|''|(?P<straight>\"))(?= ))?"
# None of these gives back what it has matched. Lookaheads say so: Python 3.11.0 to 3.11.4 match possessive
# groups wrongly.
_END = (
    rf"(?<![{_MARKS}])[{_MARKS}]++(?=(?P<closing>{_CLOSING}))(?P=closing)"
    rf"(?=(?P<notes>{_NOTES}))(?P=notes)(?=(?P<apart>{_APART}))(?P=apart)"
)
# Text from web pages lacks some blanks, or has a dash for one: 'so."He', "so.'He", "so.- He"
_BLANK = r"(?P<blank> |(?<=[.!?][\"”'’])(?=[A-Z]|- )|(?<=[.!?])(?=--? [\"'“‘]?[A-Z]))"
_BEFORE_BLANK = re.compile(f"{_END}{_BLANK}")
_ANYWHERE = re.compile(f"{_END}{_BLANK}?")
_HAS_FULL_STOP = re.compile(f"[{_FULL_STOPS}]")
_QUOTE = re.compile(f"[{_QUOTES}]")


def split_paragraph(paragraph: str, rules: Rules) -> Iterator[str]:
    """The sentences of a paragraph, which has single blanks only."""
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
    """The ends of sentences within a text, behind the blank."""
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
    """Whether a sentence that began at `start` ends with the mark that was matched."""
    if after.beginning is Beginning.CONTINUATION:
        return False
    mark = match.start()
    if text[mark] == "." and text[mark + 1] != ".":
        return period_ends_sentence(text, start, mark, after, rules)
    if text[mark] in "!?":
        if after.beginning is Beginning.LOWER:
            return rules.lowercase_starts and not match["closing"] and not _is_name(text, start, mark)
        return not (rules.speech and _QUOTE.search(match["closing"]) and _is_attribution(text, after, rules))
    if text[mark] in ".…":
        return after.beginning not in (Beginning.LOWER, Beginning.UNCASED)
    return True


def _is_name(text: str, start: int, mark: int) -> bool:
    """Whether the word before the mark is a name within a sentence: "owns Yahoo! and AOL"."""
    word_start = text.rfind(" ", start, mark) + 1
    return word_start > start and text[word_start:mark].istitle()


_SPEAKER = re.compile(r"(?:[A-Z][\w.'’-]*+ ){1,4}?([a-z]++)\b")


def _is_attribution(text: str, after: Following, rules: Rules) -> bool:
    """Whether the speaker follows: '"Why?" Smith asked.'"""
    if after.word.lower() in rules.starters:
        return False
    speaker = _SPEAKER.match(text, after.start)
    return speaker is not None and speaker[1] in rules.speech
