"""Splits text into words: character filters, a tokenizer, and the filters that split or join words.

A splitter returns the words unchanged. Everything that depends on one word alone (case, stop words, stems)
comes later and is cached by word.

Word boundaries follow Unicode text segmentation (UAX #29), as in Lucene's standard tokenizer. A text is first
mapped to the classes of its characters, one letter each (table `word_break`), so that one short pattern fits
all scripts; the longest match is a token. As with the default `max_token_length`, a token longer than 255
UTF-16 units is cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from esr.stdlib import cached_property, compile_lazily
from esr.text.token_filters import CharacterTable, compile_pattern

# Word boundaries

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


# Character filters

Replace = Callable[[re.Match[str]], str]


class CharFilter(NamedTuple):
    """Replaces each match of a pattern in a text.

    The pattern is compiled on demand, since that takes longer than a search, and ASCII text does not need
    filters that leave ASCII unchanged.
    """

    pattern: Callable[[], re.Pattern[str]]
    replace: Replace
    touches_ascii: bool
    """Whether it may change ASCII text."""


class FilteredText(NamedTuple):
    """A text after character filters, and the position in the original of each character.

    `origins` ends with the length of the original. It is None if nothing changed.
    """

    text: str
    origins: Sequence[int] | None


def build_char_filters(chain: Sequence[Mapping[str, Any]]) -> list[CharFilter]:
    """Build the filters of a definition. Raises ValueError for an unsupported type."""
    return [_BUILDERS[settings["type"]](settings) for settings in chain]


def apply(filters: Sequence[CharFilter], text: str) -> str:
    """Apply all filters to a text."""
    is_ascii = text.isascii()
    for pattern, replace, touches_ascii in filters:
        if touches_ascii or not is_ascii:
            text = pattern().sub(replace, text)
    return text


def apply_with_origins(filters: Sequence[CharFilter], text: str) -> FilteredText:
    """Apply all filters to a text, keeping track of where characters come from."""
    origins: Sequence[int] | None = None
    is_ascii = text.isascii()
    for pattern, replace, touches_ascii in filters:
        if is_ascii and not touches_ascii:
            continue
        pieces, places, done = [], [], 0
        for match in pattern().finditer(text):
            replacement = replace(match)
            start, end = match.span()
            pieces += [text[done:start], replacement]
            # A replacement begins where the replaced characters begin.
            places += [*range(done, start), *([start] * len(replacement))]
            done = end
        if done == 0:
            continue
        places += range(done, len(text) + 1)
        text = "".join([*pieces, text[done:]])
        origins = places if origins is None else [origins[place] for place in places]
    return FilteredText(text, origins)


def _mapping(settings: Mapping[str, Any]) -> CharFilter:
    """Replace the longest key at each position, as in Lucene."""
    values = dict(map(_parse_rule, settings["mappings"]))

    @cache
    def pattern() -> re.Pattern[str]:
        several = sorted((key for key in values if len(key) > 1), key=len, reverse=True)
        one = _set(key for key in values if len(key) == 1)
        # A lookahead for the first characters leaves few positions to examine.
        both = f"(?={_set(key[0] for key in several)})(?:{'|'.join(map(re.escape, several))})|{one}"
        return re.compile(both if several else one)

    return CharFilter(pattern, lambda match: values[match[0]], any(key.isascii() for key in values))


def _set(characters: Iterable[str]) -> str:
    return f"[{''.join(map(re.escape, sorted(set(characters))))}]"


def _parse_rule(rule: str) -> tuple[str, str]:
    key, value = rule.split("=>")
    return _unescape(key.strip()), _unescape(value.strip())


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda match: chr(int(match[1], 16)), text)


def _pattern_replace(settings: Mapping[str, Any]) -> CharFilter:
    pattern, replacement = compile_pattern(settings["pattern"]), settings.get("replacement", "")
    return CharFilter(lambda: pattern, lambda _: replacement, True)


_BUILDERS: Mapping[str, Callable[[Mapping[str, Any]], CharFilter]] = {
    "mapping": _mapping,
    "pattern_replace": _pattern_replace,
}


# Splitters

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
