"""Where paragraphs of a text end: at blank lines, and at lines that were not merely wrapped."""

from __future__ import annotations

import re
from collections.abc import Iterator

UNWRAPPED = 120
"""A text with a longer line is not wrapped: each line is a paragraph."""
NARROW = 40
"""Lines that are all shorter are not wrapped either: they are headings, or the lines of a list."""
SHORT = 0.75
"""Of the longest line. A shorter one that had room for the next word ends a paragraph."""

# A blank line ends a paragraph. It may contain blanks.
_BLANK_LINE = re.compile(r"\n\s*\n")
_BULLETS = tuple("•‣⁃◦▪▫●■□◆►▶➢✓✔∙")
# A hyphen may be a dash, and a wrapped line may begin with a number: a single such line is not a list.
_LIST_MARKERS = re.compile(r"[-–—*+·]\s"), re.compile(r"\(?(?:\d{1,3}|[a-z])[.)]\s")
# A line does not end with these, and the next one does not begin with them.
_UNFINISHED = tuple(",;-–—‐/&、，")


def split_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a text, without blank ones. Each is one line, with single blanks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    for block in _BLANK_LINE.split(text) if "\n" in text else (text,):
        if "\n" in block:
            yield from _join_wrapped([line for line in map(_normalise, block.split("\n")) if line])
        elif paragraph := _normalise(block):
            yield paragraph


def _normalise(text: str) -> str:
    return " ".join(text.split())


def _join_wrapped(lines: list[str]) -> Iterator[str]:
    """The paragraphs of lines that no blank line separates."""
    if not lines:
        return
    # A line of one long word, such as an address, says nothing about the width.
    width = max((len(line) for line in lines if " " in line or not line.isascii()), default=0)
    markers = [marker for marker in _LIST_MARKERS if sum(map(bool, map(marker.match, lines))) > 1]
    paragraph = [lines[0]]
    for line in lines[1:]:
        if _ends_paragraph(paragraph[-1], line, width) or _is_item(line, markers):
            yield " ".join(paragraph)
            paragraph = []
        paragraph.append(line)
    yield " ".join(paragraph)


def _ends_paragraph(line: str, next_line: str, width: int) -> bool:
    """Whether a line ends a paragraph, as a heading or a byline does, and is not just wrapped."""
    if line.endswith(_UNFINISHED) or next_line[0].islower() or next_line.startswith(_UNFINISHED):
        return False
    if width > (UNWRAPPED // 2 if _is_unspaced(next_line[0]) else UNWRAPPED):
        return True
    if line.endswith(":"):
        return False
    if width < NARROW and next_line[0].isupper() and not line.endswith("."):
        return True
    next_word = "" if _is_unspaced(next_line[0]) else next_line.split(" ", 1)[0]
    return len(line) + 1 + len(next_word) <= SHORT * width


def _is_item(line: str, markers: list[re.Pattern[str]]) -> bool:
    """Whether a line begins an item of a list."""
    return line.startswith(_BULLETS) or any(marker.match(line) for marker in markers)


def _is_unspaced(character: str) -> bool:
    """Whether it belongs to a script whose lines may be wrapped within a word: Thai, Lao, Han, Kana."""
    return "\u0e00" <= character < "\u0f00" or character >= "\u2e80"
