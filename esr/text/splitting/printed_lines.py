"""Joins printed lines, and the words that are hyphenated at their ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from esr.stdlib import compile_lazily
from esr.text.splitting.paragraphs import has_blank_between

# A soft hyphen, and the signs that text recognition returns for hyphens at line ends.
_SURE = "\xad\u00ac\u2e17"
_HYPHENS = f"-\u2010\u2011{_SURE}"
_CUT = compile_lazily(rf"(?P<head>(?:[\w'’]+[-‐‑])*[^\W\d_]+)(?P<hyphen>[{_HYPHENS}])$")
_LONGEST_WORD = 100
_HEAD = compile_lazily(r"[^\W\d_][\w'’]*")
_WORD = compile_lazily(r"[\w'’]+(?:[-‐‑][\w'’]+)*")
_AND = frozenset(
    (
        *("and", "or", "nor", "und", "oder", "bzw", "sowie", "et", "ou", "y", "e", "o"),
        *("en", "of", "och", "og", "eller", "i", "ali"),
    )
)
"""Words after an elliptic hyphen: "pre- and post-war"."""


def find_uncut_words(lines: Iterable[str]) -> Set[str]:
    """The words of lines in lower case, with their hyphens, except words that a line end may have split."""
    words: set[str] = set()
    for line in lines:
        words_of_line = _WORD.findall(line.lower())
        words.update(words_of_line[:-1] if _CUT.search(line[-_LONGEST_WORD:]) else words_of_line)
    return words


def join_lines(lines: Iterable[str], words: Set[str] = frozenset()) -> str:
    """The text of the lines of a paragraph, on one line.

    A hyphen at the end of a line is removed if the next line continues its word with a small letter, unless
    the text has the word only with the hyphen (`words`, from `find_uncut_words`) or the hyphen is elliptic.
    """
    before: list[str] = []
    text = ""  # the end of what is joined, since a paragraph may be a book
    for line in lines:
        line = " ".join(line.split())
        text = _join(text, line, words) if text and line else text or line
        before.append(text[:-_LONGEST_WORD])
        text = text[-_LONGEST_WORD:]
    return "".join([*before, text]).replace("\xad", "")


def _join(text: str, line: str, words: Set[str]) -> str:
    cut, head = _CUT.search(text[-_LONGEST_WORD:]), _HEAD.match(line)
    if cut is None or head is None:
        is_range = bool(re.search(r"\d[-‐–]$", text[-2:])) and line[0].isdigit()
        return f"{text} {line}" if not is_range and has_blank_between(text, line) else f"{text}{line}"
    if cut["hyphen"] in _SURE:
        return text[:-1] + line
    if head[0].lower() in _AND:
        return f"{text} {line}"
    if not line[0].islower() and line[0].lower() != line[0].upper():
        return f"{text}{line}"
    before, after = cut["head"].lower(), head[0].lower()
    is_compound = f"{before}-{after}" in words and f"{before}{after}" not in words
    return f"{text}{line}" if is_compound else text[:-1] + line
