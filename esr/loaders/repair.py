"""Repairs the example news, where curly quotes, dashes and apostrophes became `"?` and lost their blank.

`don"t`, `teachers"?unions`, `it was so,"?he said`, `Trump "?like others "?was`, `he said, "�Yes`. A mark is
repaired only if its context determines it. Lost letters ("T��naiste") stay lost.
"""

from __future__ import annotations

import re

_LETTER = r"[^\W\d_]"
# The order matters: each rule leaves fewer ambiguous marks to the next.
_RULES = [
    # couldn"t, they"ve, O"Neill: an apostrophe within a word
    (re.compile(rf'(?<={_LETTER})"\ufffd?(?=(?:t|ve|re|ll)\b)', re.I), "'"),
    (re.compile(rf'\bO"\ufffd?(?={_LETTER})'), "O'"),
    # said, "�Yes: an opening quote
    (re.compile(r'(?<![^\s(\[-])"\ufffd(?=[\w\[])'), '"'),
    # Trump "?like others "?was: a dash
    (re.compile(rf'(?<=\s)"(?:\?|\ufffd+\?| \ufffd)\s*(?={_LETTER}|")'), "- "),
    (re.compile(rf'\s*-"\?(?={_LETTER})'), " - "),
    # so,"?he said: a closing quote and the blank after it
    (re.compile(r'(?<=[.,!?])"\?(?=[\w"(\[#])'), '" '),
    # so."? And: the same, with its blank
    (re.compile(r'(?<=[.,!])"\?(?=[\s-]|$)'), '"'),
]
_AFTER_WORD = re.compile(r'(?<=\w)"\?(?=[\w"(\[])')
_OPENING_QUOTE = re.compile(r'(?:^|[\s(\[-])"(?=[^\s"])')
_SPACES = re.compile(r"[ \xa0]+")
# Three blanks or more replace the start of a paragraph, heading or caption on the page.
_PARAGRAPH = re.compile(r"[ \xa0]{3,}")


def repair_text(text: str) -> str:
    """The text with its unambiguous marks repaired, single blanks, and blank lines between paragraphs."""
    text = text.replace("\u200b", "").replace("\xa0", " ")
    for wrong, right in _RULES:
        text = wrong.sub(right, text)
    text = _AFTER_WORD.sub(_quote_or_apostrophe, text)
    text = _PARAGRAPH.sub("\n\n", text.strip())
    return _SPACES.sub(" ", text)


def _quote_or_apostrophe(mark: re.Match[str]) -> str:
    """`an "America First"?pledge` closes a quote; `teachers"?unions`, without an open one, is a genitive."""
    before = mark.string[max(0, mark.start() - 300) : mark.start()]
    last_quote = before.rfind('"')
    is_closing = last_quote >= 0 and _OPENING_QUOTE.search(before, max(0, last_quote - 1), last_quote + 2)
    return '" ' if is_closing or mark.string[mark.start() - 1] not in "sz" else "' "
