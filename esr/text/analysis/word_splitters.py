"""Splitters: a tokenizer with the filters that split or join words.

A splitter returns the words unchanged. Everything that depends on one word alone (case, stop words, stems)
comes later and is cached by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from esr.stdlib import cached_property, compile_lazily
from esr.text.analysis.char_filters import CharFilter, apply, apply_with_origins, build_char_filters
from esr.text.analysis.token_filters import compile_pattern
from esr.text.analysis.tokenizer import Span, may_have_long_token, tokens

PADDING = b" " * 16
"""Follows the words of `join`, so that 16 bytes can be read from the start of any word."""


class Word(NamedTuple):
    """A word, and its position in the text."""

    start: int
    end: int
    word: str


class JoinedWords(NamedTuple):
    """The words of many texts in UTF-8, with spaces between, ASCII in lower case; and each text's end."""

    content: bytes
    ends: npt.NDArray[np.int64]


class Splitter(Protocol):
    """Splits texts into words, which contain no spaces."""

    def words(self, text: str) -> list[str]: ...

    def located_words(self, text: str) -> Iterator[Word]: ...

    def join(self, texts: Sequence[str]) -> JoinedWords:
        """Join the words of all texts: the result of `words` in a fraction of the time."""


# For `bytes.translate`: maps ASCII characters to lower case, or to a space where words are split.
_ASCII_WORDS = bytes(code if chr(code).isalnum() else ord(" ") for code in bytes(range(256)).lower())
_ASCII_WORD = compile_lazily("[0-9A-Za-z]+")


def _ascii_words(text: str) -> list[str]:
    """The words of ASCII text: its runs of letters and digits, in lower case."""
    return text.encode().translate(_ASCII_WORDS).decode().split()


def _locate(text: str, spans: Iterable[Span], origins: Sequence[int] | None) -> Iterator[Word]:
    """Yield the words of a filtered text. `origins` maps to the original; None if nothing changed."""
    for start, end in spans:
        word = text[start:end]
        yield Word(start, end, word) if origins is None else Word(origins[start], origins[end], word)


def _join_words(splitter: Splitter, texts: Sequence[str]) -> JoinedWords:
    """Join words for splitters whose ASCII words are runs of letters and digits."""
    return _join(
        text.encode().translate(_ASCII_WORDS) if text.isascii() else " ".join(splitter.words(text)).encode()
        for text in texts
    )


class PatternSplitter:
    """Splits at each character that a pattern matches: the tokenizer simple_pattern_split."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    @cached_property
    def _separator(self) -> re.Pattern[str]:
        return re.compile(self._pattern)

    def words(self, text: str) -> list[str]:
        if text.isascii():
            return _ascii_words(text)
        return [word for word in self._separator.split(text) if word]

    def located_words(self, text: str) -> Iterator[Word]:
        start = 0
        separators = [match.span() for match in self._separator.finditer(text)]
        for end, next_start in (*separators, (len(text), 0)):
            if start < end:
                yield Word(start, end, text[start:end])
            start = next_start

    def join(self, texts: Sequence[str]) -> JoinedWords:
        return _join_words(self, texts)


class WordPatternSplitter:
    """Takes the matches of a pattern as words: character filters, then the tokenizer simple_pattern.

    In ASCII the pattern must match runs of letters and digits, and no character filter may change those.
    """

    def __init__(self, pattern: str, char_filter_chain: Sequence[Mapping[str, Any]]) -> None:
        self._pattern = pattern
        self._char_filter_chain = char_filter_chain

    # Compiled on demand: it takes longer than a search, and ASCII text does not need it.
    @cached_property
    def _word(self) -> re.Pattern[str]:
        return re.compile(self._pattern)

    @cached_property
    def _char_filters(self) -> list[CharFilter]:
        built = build_char_filters(self._char_filter_chain)
        assert not any(char_filter.touches_ascii for char_filter in built)
        return built

    def words(self, text: str) -> list[str]:
        if text.isascii():
            return _ascii_words(text)
        return self._word.findall(apply(self._char_filters, text))

    def located_words(self, text: str) -> Iterator[Word]:
        if text.isascii():
            return _locate(text, (match.span() for match in _ASCII_WORD.finditer(text)), None)
        filtered, origins = apply_with_origins(self._char_filters, text)
        return _locate(filtered, (match.span() for match in self._word.finditer(filtered)), origins)

    def join(self, texts: Sequence[str]) -> JoinedWords:
        return _join_words(self, texts)


class CapitalWords:
    """Words that keep their capitals, by a filter before the lower-case filter.

    The pattern is `^(?=[A-Z][A-Z])(WHO|IS|…)(?:'s)?$`, and the replacement is the word followed by a mark.
    The lookahead saves trying each of the words for all others.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        match = re.fullmatch(
            r"\^\(\?=\[A-Z\]\[A-Z\]\)\(((?:[A-Z]{2,}\|)*[A-Z]{2,})\)\(\?:'s\)\?\$", settings["pattern"]
        )
        replaced, mark = settings["replacement"][:2], settings["replacement"][2:]
        if match is None or replaced != "$1":
            raise ValueError(f"the pattern {settings['pattern']!r} is not supported")
        self._words = frozenset(match[1].split("|"))
        self._mark = mark
        self._pattern = match[1]

    @cached_property
    def _in_bytes(self) -> re.Pattern[bytes]:
        return re.compile(rf"(?:{self._pattern})(?:'s)?(?![A-Za-z0-9_])".encode())

    def mark(self, word: str) -> str:
        """The word as the filter replaces it."""
        bare = word.removesuffix("'s")
        return bare + self._mark if bare in self._words else word

    def restore(self, content: bytes, words: bytearray) -> None:
        """Restore the capitals in `words`, which is `content` in lower case and split by spaces."""
        characters, split = np.frombuffer(content, np.uint8), np.frombuffer(words, np.uint8)
        is_capital = characters - ord("A") < 26  # unsigned: characters below A wrap to above Z
        starts = np.flatnonzero((split[:-2] == _SPACE) & is_capital[1:-1] & is_capital[2:]) + 1
        for start in starts.tolist():
            match = self._in_bytes.match(content, start)
            if match and words[match.end()] == _SPACE:
                words[start : match.end()] = match[0]


class StandardSplitter:
    """Splits by Unicode text segmentation: the tokenizer `standard`, then cjk_bigram and pattern_capture."""

    def __init__(
        self,
        char_filter_chain: Sequence[Mapping[str, Any]],
        makes_bigrams: bool,
        capture_pattern: str | None,
        capitals: CapitalWords | None = None,
    ) -> None:
        self._char_filters = build_char_filters(char_filter_chain)
        self._touches_ascii = any(f.touches_ascii for f in self._char_filters)
        self._makes_bigrams = makes_bigrams
        self._capture_pattern = capture_pattern
        self._capitals = capitals

    @cached_property
    def _capture(self) -> re.Pattern[str] | None:
        return None if self._capture_pattern is None else compile_pattern(self._capture_pattern)

    def words(self, text: str) -> list[str]:
        text = apply(self._char_filters, text)
        return [text[start:end] for start, end in self._spans(text)]

    def located_words(self, text: str) -> Iterator[Word]:
        filtered, origins = apply_with_origins(self._char_filters, text)
        return _locate(filtered, self._spans(filtered), origins)

    def _spans(self, text: str) -> Iterable[Span]:
        """The spans of the words of a filtered text."""
        spans, are_cjk = tokens(text)
        if are_cjk is not None and self._makes_bigrams:
            spans = list(_bigram_spans(spans, are_cjk))
        if not text.isascii() and self._capture is not None and self._capture.search(text):
            return _captured_spans(self._capture, text, spans)
        return spans

    def join(self, texts: Sequence[str]) -> JoinedWords:
        content, ends = _join(map(self._to_bytes, texts))
        return JoinedWords(_blank_separators(content, self._capitals), ends)

    def _to_bytes(self, text: str) -> bytes:
        """The words of a text, or ASCII text unchanged, which `_blank_separators` splits for all at once."""
        if self._touches_ascii or not text.isascii():
            text = apply(self._char_filters, text)
        if text.isascii() and not may_have_long_token(text):
            return text.encode()
        return " ".join([text[start:end] for start, end in self._spans(text)]).encode()


def _bigram_spans(spans: Iterable[Span], are_cjk: Iterable[bool]) -> Iterator[Span]:
    """Yield pairs of adjacent characters of Han, Hiragana, Katakana and Hangul, and isolated characters."""
    run_start = run_end = -1
    for (start, end), is_cjk in zip(spans, are_cjk, strict=True):
        if is_cjk and start == run_end:
            run_end = end
            continue
        yield from _bigrams(run_start, run_end)
        run_start, run_end = (start, end) if is_cjk else (-1, -1)
        if not is_cjk:
            yield start, end
    yield from _bigrams(run_start, run_end)


def _bigrams(start: int, end: int) -> Iterator[Span]:
    if end - start == 1:
        yield start, end
    for n in range(start, end - 1):
        yield n, n + 2


def _captured_spans(pattern: re.Pattern[str], text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the span that the pattern's group captures in each word, or the word if it captures nothing."""
    for start, end in spans:
        captured = [match.span(1) for match in pattern.finditer(text[start:end])]
        if captured:
            yield from ((start + first, start + last) for first, last in captured)
        else:
            yield start, end


def _join(pieces: Iterable[bytes]) -> JoinedWords:
    pieces = list(pieces)
    ends = np.cumsum([len(piece) + 1 for piece in pieces], dtype=np.int64)
    return JoinedWords(b" %b%b" % (b" ".join(pieces), PADDING), ends)


# ASCII word boundaries depend on a character and its two neighbours. Bytes beyond ASCII come from texts that
# are already split: a character between two of them, or an apostrophe or sign next to them, is part of a
# word.
_LETTER, _DIGIT, _BEYOND_ASCII = 1, 2, 4
_SPACE = ord(" ")
_KIND = np.zeros(256, np.uint8)
_KIND[[code for code in range(128) if chr(code).isalpha()]] = _LETTER
_KIND[[code for code in range(128) if chr(code).isdigit()]] = _DIGIT
_KIND[128:] = _LETTER | _DIGIT | _BEYOND_ASCII
# A mark is part of a word between, after, or before characters of these kinds.
_BETWEEN, _AFTER, _BEFORE = np.zeros((3, 256), np.uint8)
_BETWEEN[list(b":.',;\"")] = (
    _LETTER,
    _LETTER | _DIGIT,
    _LETTER | _DIGIT,
    _DIGIT,
    _DIGIT,
    _BEYOND_ASCII,
)
_AFTER[ord("'")] = _BEYOND_ASCII
_BEFORE[list(b"#*")] = _BEYOND_ASCII
_IS_MARK = ((_BETWEEN | _AFTER | _BEFORE) > 0).astype(np.uint8).tobytes()
_BLANK = bytes(
    code if chr(code).isalnum() or code >= 128 or code == ord("_") or _IS_MARK[code] else ord(" ")
    for code in bytes(range(256)).lower()
)


def _blank_separators(content: bytes, capitals: CapitalWords | None) -> bytes:
    """Lower-case the content, except for words in capitals, and blank ASCII characters outside words."""
    marks = np.flatnonzero(np.frombuffer(content.translate(_IS_MARK), np.bool_))
    characters = np.frombuffer(content, np.uint8)
    mark, before, after = characters[marks], _KIND[characters[marks - 1]], _KIND[characters[marks + 1]]
    is_inside = ((_BETWEEN[mark] & before & after) | (_AFTER[mark] & before) | (_BEFORE[mark] & after)) > 0
    words = bytearray(content.translate(_BLANK))
    np.frombuffer(words, np.uint8)[marks[~is_inside]] = ord(" ")
    if capitals is not None:
        capitals.restore(content, words)
    return bytes(words)
