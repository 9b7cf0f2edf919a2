"""Splits headings, links and dates from the text that follows without a mark, as in text from web pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from esr.stdlib import compile_lazily
from esr.text.labels import find_links
from esr.text.splitting.next_word import Beginning, following
from esr.text.splitting.rules import Rules

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
