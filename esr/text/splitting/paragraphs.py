"""Splits text into paragraphs: at blank lines, and at lines that were not merely wrapped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from esr.stdlib import compile_lazily

UNWRAPPED = 120
"""Length of a line above which the text is not wrapped: each line is a paragraph."""
NARROW = 40
"""If all lines are shorter than this, the text is not wrapped either: they are headings or list items."""
SHORT = 0.75
"""Share of the longest line's length. A shorter line with room for the next word ends a paragraph."""

# A blank line ends a paragraph. It may contain blanks.
_BLANK_LINE = compile_lazily(r"\n\s*\n")
_BULLETS = tuple("•‣⁃◦▪▫●■□◆►▶➢✓✔∙")
# A hyphen may be a dash, and a wrapped line may begin with a number, so a single such line is no list.
_LIST_MARKERS = compile_lazily(r"[-–—*+·]\s"), compile_lazily(r"\(?(?:\d{1,3}|[a-z])[.)]\s")
# A paragraph neither ends nor begins with these characters.
_UNFINISHED = tuple(",;-–—‐/&、，")


def split_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text that are not blank, each as one line with single blanks."""
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
    """Yield the paragraphs of consecutive lines without a blank line."""
    if not lines:
        return
    # A line of one long word, such as a URL, tells nothing about the width.
    width = max((len(line) for line in lines if " " in line or not line.isascii()), default=0)
    markers = [marker for marker in _LIST_MARKERS if sum(map(bool, map(marker.match, lines))) > 1]
    paragraph = [lines[0]]
    for line in lines[1:]:
        if _ends_paragraph(paragraph[-1], line, width) or _is_item(line, markers):
            yield "".join(paragraph)
            paragraph = []
        if paragraph and has_blank_between(paragraph[-1], line):
            paragraph.append(" ")
        paragraph.append(line)
    yield "".join(paragraph)


_CHINESE_OR_JAPANESE = compile_lazily(
    r"[\u3000-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


def has_blank_between(line: str, next_line: str) -> bool:
    """Whether a line end stands for a blank, unlike in Chinese. Neither line is empty."""
    return not (_CHINESE_OR_JAPANESE.match(next_line) and _CHINESE_OR_JAPANESE.match(line[-1]))


def _ends_paragraph(line: str, next_line: str, width: int) -> bool:
    """Whether a line ends a paragraph, as a heading or byline does, instead of being wrapped."""
    if line.endswith(_UNFINISHED) or next_line[0].islower() or next_line.startswith(_UNFINISHED):
        return False
    if width > (UNWRAPPED // 2 if _is_unspaced_letter(next_line[0]) else UNWRAPPED):
        return True
    if line.endswith(":"):
        return False
    if width < NARROW and next_line[0].isupper() and not line.endswith("."):
        return True
    next_word = "" if _is_unspaced_letter(next_line[0]) else next_line.split(" ", 1)[0]
    return len(line) + 1 + len(next_word) <= SHORT * width


def _is_item(line: str, markers: list[re.Pattern[str]]) -> bool:
    """Whether a line begins an item of a list."""
    return line.startswith(_BULLETS) or any(marker.match(line) for marker in markers)


def _is_unspaced_letter(character: str) -> bool:
    """Whether it belongs to a script that can be wrapped within words: Thai, Lao, Han, Kana."""
    return "\u0e00" <= character < "\u0f00" or character >= "\u2e80"
