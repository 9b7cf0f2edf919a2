"""Word boundaries by Unicode text segmentation (UAX #29), as in Lucene's standard tokenizer.

A text is first mapped to the classes of its characters, one letter each (table `word_break`), so that one
short pattern fits all scripts; the longest match is a token. As with the default `max_token_length`, a token
longer than 255 UTF-16 units is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from esr.stdlib import compile_lazily
from esr.text.analysis.token_filters import CharacterTable

MAX_UNITS = 255
"""Length of the longest token, in UTF-16 units."""

Span = tuple[int, int]


class Tokens(NamedTuple):
    """The spans of a text's tokens, and whether the filter cjk_bigram takes each; None if it takes none."""

    spans: list[Span]
    are_cjk: Sequence[bool] | None


# Characters that attach to the one before: marks, format characters, joiners, selectors.
_X = r"[+tzKvVMgG]*"
# Letters and digits that join, with the marks that may be between two of them.
_RUN = (
    rf"(?:[aPk]++{_X}(?:[:.']{_X}[aPhk]{_X})*"
    rf"|[01]++{_X}(?:[,.']{_X}[01]{_X})*"
    rf"|h{_X}'{_X}|h{_X}\"{_X}h{_X}|h{_X}(?:[:.']{_X}[aPhk]{_X})*)+"
)
_PIECE = rf"(?:{_RUN}|(?:j{_X})+)"
_WORD = rf"(?:_{_X})*{_PIECE}(?:(?:_{_X})+{_PIECE})*(?:_{_X})*"
# Emoji: unlike other marks, the selectors v and V do not attach.
_XS = r"[+tzKMgG]*"
_EMOJI_CHARACTER = rf"(?:z*[EP]{_XS}V?|M{_XS})"
_EMOJI = rf"(?:{_EMOJI_CHARACTER}(?:g+G|(?:(?:(?<=z)|z){_EMOJI_CHARACTER})*)|[*0]{_XS}V?K{_XS}|R{_X}R{_X})"
_IDEOGRAPH = rf"[ci]{_X}"
_SOUTH_EAST_ASIAN = rf"(?:[Tt]{_X})+"

_TOKEN = compile_lazily(rf"{_IDEOGRAPH}|{_WORD}|{_SOUTH_EAST_ASIAN}|{_EMOJI}")
_NEXT = compile_lazily(r"[^ ]")
# Ideographs, Hiragana, tokens of Hangul alone, and tokens of Katakana alone.
_CJK = compile_lazily(rf"{_IDEOGRAPH}|(?:k{_X})+|(?:j{_X})+")
_MAY_BE_CJK = compile_lazily(r"[cijk]")


@cache
def _words_and_emoji() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of words and of emoji, compiled on demand, since that takes as long as reading a text."""
    return re.compile(_WORD), re.compile(_EMOJI)


@cache
def classes() -> CharacterTable:
    """The class of each code point, a letter; a space for separators."""
    return CharacterTable("word_break", " ")


def tokens(text: str) -> Tokens:
    """Find the tokens of a text."""
    written = text.translate(classes())
    # A letter that is also an emoji may begin either, and only the longest token may be cut.
    if "P" in written or may_have_long_token(written):
        spans = list(_longest_tokens(text, written))
    else:
        spans = [match.span() for match in _TOKEN.finditer(written)]
    if _MAY_BE_CJK.search(written) is None:
        return Tokens(spans, None)
    return Tokens(spans, [_CJK.fullmatch(written, start, end) is not None for start, end in spans])


def may_have_long_token(text: str) -> bool:
    """Whether a token may exceed MAX_UNITS UTF-16 units. `text` may also be mapped to classes."""
    longest = MAX_UNITS // 2  # in characters, each of which may be two units
    return len(text) > longest and max(map(len, text.split()), default=0) > longest


def _longest_tokens(text: str, written: str) -> Iterator[Span]:
    """Yield the longest token that is short enough, position by position."""
    position = 0
    while (first := _NEXT.search(written, position)) is not None:
        start = first.start()
        limit = _window_end(text, start)
        match = _TOKEN.match(written, start, limit)
        if written[start] in "Pz":
            others = [pattern.match(written, start, limit) for pattern in _words_and_emoji()]
            match = max((m for m in others if m is not None), key=lambda m: m.end(), default=None)
        if match is None or match.end() == start:
            position = start + 1
            continue
        position = match.end()
        yield start, position


def _window_end(text: str, start: int) -> int:
    """The end of the longest piece from `start` with at most MAX_UNITS UTF-16 units."""
    window = text[start : start + MAX_UNITS]
    units = len(window) + sum(character > "\uffff" for character in window)
    end = len(window)
    while units > MAX_UNITS:
        end -= 1
        units -= 2 if window[end] > "\uffff" else 1
    return start + end
