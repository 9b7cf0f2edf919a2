"""Repair of the example news: its curly quotes, dashes and apostrophes came as `"?` and the blank was lost.

`don"t`, `teachers"?unions`, `it was so,"?he said`, `Trump "?like others "?was`, `he said, "�Yes`. Only what
can be told from its neighbours is mended. Letters that are gone ("T��naiste") stay gone.
"""

from __future__ import annotations

import re

_LETTER = r"[^\W\d_]"
# In this order: what is left by one rule is plainer for the next.
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
    # so."? And: the same, its blank kept
    (re.compile(r'(?<=[.,!])"\?(?=[\s-]|$)'), '"'),
]
_AFTER_WORD = re.compile(r'(?<=\w)"\?(?=[\w"(\[])')
_OPENING_QUOTE = re.compile(r'(?:^|[\s(\[-])"(?=[^\s"])')
_SPACES = re.compile(r"[ \xa0]+")
# Three blanks and more stand where the page had a new paragraph, heading or caption.
_PARAGRAPH = re.compile(r"[ \xa0]{3,}")


def mended(text: str) -> str:
    """The text with the marks that are sure, single blanks, and paragraphs parted by blank lines."""
    text = text.replace("\u200b", "").replace("\xa0", " ")
    for wrong, right in _RULES:
        text = wrong.sub(right, text)
    text = _AFTER_WORD.sub(_quote_or_apostrophe, text)
    text = _PARAGRAPH.sub("\n\n", text.strip())
    return _SPACES.sub(" ", text)


def _quote_or_apostrophe(mark: re.Match[str]) -> str:
    """`an "America First"?pledge` closes a quote; without one open, `teachers"?unions` is an apostrophe."""
    before = mark.string[max(0, mark.start() - 300) : mark.start()]
    opened = before.rfind('"')
    closes = opened >= 0 and _OPENING_QUOTE.search(before, max(0, opened - 1), opened + 2)
    return '" ' if closes or mark.string[mark.start() - 1] not in "sz" else "' "
