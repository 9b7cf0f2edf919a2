r"""Token filters of Elasticsearch in Python: each replaces one word, or drops it.

A filter sees one word at a time, so results can be cached by word. Filters that make several terms of a word,
or depend on its neighbours, belong to the tokenizer (`tokenizer.py`). The stemmers here are Lucene's stemmers
other than Snowball; tests compare them with Elasticsearch's.

Patterns must mean the same in Java and Python: they use only literals, sets, groups, lookarounds and
repetitions, not `\d`, `\w` or `\p`, which match different characters. Replacements are literal text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from esr.stdlib import cached_property, compile_lazily
from esr.text.analysis.snowball import get_stemmer

_GERMAN_LETTERS = str.maketrans("äàáâöòóôïìíîüùúû", "aaaaooooiiiiuuuu")
_BEFORE_GERMAN_S = frozenset("bdfghklmnt")


def light_german(word: str) -> str:
    """Strip the endings of German nouns, adjectives and verbs (J. Savoy's light stemmer)."""
    word = word.translate(_GERMAN_LETTERS)
    return _without_comparison(_without_case(word))


def _without_case(word: str) -> str:
    length = len(word)
    if length > 5 and word.endswith("ern"):
        return word[:-3]
    if length > 4 and word.endswith(("em", "en", "er", "es")):
        return word[:-2]
    if length > 3 and word.endswith("e"):
        return word[:-1]
    if length > 3 and word.endswith("s") and word[-2] in _BEFORE_GERMAN_S:
        return word[:-1]
    return word


def _without_comparison(word: str) -> str:
    length = len(word)
    if length > 5 and word.endswith("est"):
        return word[:-3]
    if length > 4 and word.endswith(("er", "en")):
        return word[:-2]
    if length > 4 and word.endswith("st") and word[-3] in _BEFORE_GERMAN_S:
        return word[:-2]
    return word


STEMMERS: Mapping[str, Callable[[str], str]] = {"light_german": light_german}
"""Stemmers by the name that Elasticsearch's filter `stemmer` uses."""


# Letter escapes, flags, groups other than `(?:`, `(?=`, `(?!`, `(?<=` and `(?<!`, and nested sets.
_AMBIGUOUS = compile_lazily(r"\\[A-Za-z]|\(\?(?![:=!]|<[=!])|\[[^\]]*(?:\[|&&)")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern. Raises ValueError for a construct that Java and Python may read differently."""
    if _AMBIGUOUS.search(pattern):
        raise ValueError(f"the pattern {pattern!r} has a construct that Java and Python may read differently")
    return compile_lazily(pattern)


class CharacterTable(dict[int, str]):
    """The value of each code point, for `str.translate`. Filled as characters occur.

    Each line of the table's file has a value and the ranges of code points with it. The file is read at the
    first lookup of a character: texts in ASCII need few of the tables.
    """

    def __init__(self, name: str, default: str | None) -> None:
        """`default` is the value of code points missing from the table; None leaves them unchanged."""
        super().__init__()
        self._name, self._default = name, default

    @cached_property
    def _ranges(self) -> tuple[list[int], list[int], list[str]]:
        """The starts, ends and values of the ranges, sorted by start."""
        ranges = sorted(_read_ranges(self._name))
        return [start for start, _, _ in ranges], [end for _, end, _ in ranges], [v for _, _, v in ranges]

    def __missing__(self, code: int) -> str:
        starts, ends, values = self._ranges
        n = bisect_right(starts, code) - 1
        if n >= 0 and code <= ends[n]:
            value = values[n]
        else:
            value = chr(code) if self._default is None else self._default
        self[code] = value
        return value


def _read_ranges(name: str) -> list[tuple[int, int, str]]:
    text = (Path(__file__).parent / "character_tables" / f"{name}.txt").read_text("utf-8")
    ranges = []
    for line in text.splitlines():
        if line.startswith("# "):
            continue
        value, *spans = line.split(" ")
        for span in spans:
            start, _, end = span.partition("-")
            ranges.append((int(start, 16), int(end or start, 16), value))
    return ranges


WordFilter = Callable[[str], str]
"""Maps a word to its replacement, empty to drop it."""


def build_token_filters(chain: Sequence[Mapping[str, Any]]) -> list[WordFilter]:
    """Build the filters of a definition. Filters that protect words from a stemmer precede it, as in Lucene.

    Raises ValueError for an unsupported type.
    """
    filters: list[WordFilter] = []
    overrides: dict[str, str] = {}
    keywords: list[re.Pattern[str]] = []
    for settings in chain:
        match settings["type"]:
            case "stemmer_override":
                overrides = dict(rule.split(" => ") for rule in settings["rules"])
            case "keyword_marker":
                keywords.append(compile_pattern(settings["keywords_pattern"]))
            case "snowball":
                filters.append(_stem_filter(get_stemmer(settings["language"].lower()), overrides, keywords))
            case "stemmer":
                stem = STEMMERS[settings["language"]]
                filters.append(_stem_filter(stem, overrides, keywords))
            case type:
                if type not in _BUILDERS:
                    raise ValueError(f"the filter type {type!r} is not supported")
                filters.append(_BUILDERS[type](settings))
    return filters


def _lower_case(_: Mapping[str, Any]) -> WordFilter:
    """Lower case letter by letter, as in Lucene: no final sigma, and İ becomes i."""
    table = _LowerCase()
    return lambda word: word.lower() if word.isascii() else word.translate(table)


class _LowerCase(dict[int, str]):
    """The lower case of each letter. Filled as letters occur."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code).lower()[0]
        return self[code]


def _length(settings: Mapping[str, Any]) -> WordFilter:
    """Drop words that are too short or too long. Lucene counts UTF-16 units."""
    shortest, longest = settings.get("min", 0), settings["max"]

    def units(word: str) -> int:
        return len(word) if word.isascii() else len(word.encode("utf-16-le", "surrogatepass")) // 2

    return lambda word: word if shortest <= len(word) and units(word) <= longest else ""


def _stop(settings: Mapping[str, Any]) -> WordFilter:
    words = frozenset(settings["stopwords"])
    return lambda word: "" if word in words else word


def _pattern_replace(settings: Mapping[str, Any]) -> WordFilter:
    pattern, replacement = compile_pattern(settings["pattern"]), settings.get("replacement", "")
    replacement = re.sub(r"\$(?=\d)", r"\\", replacement)
    return lambda word: pattern.sub(replacement, word)


def _ascii_folding(_: Mapping[str, Any]) -> WordFilter:
    table = CharacterTable("ascii_folding", None)
    return lambda word: word if word.isascii() else word.translate(table)


def _decimal_digit(_: Mapping[str, Any]) -> WordFilter:
    table = _Digits()
    return lambda word: word if word.isascii() else word.translate(table)


class _Digits(dict[int, str]):
    """The ASCII digit of each decimal digit. Filled as characters occur."""

    def __missing__(self, code: int) -> str:
        digit = unicodedata.decimal(chr(code), None)
        self[code] = chr(code) if digit is None else str(digit)
        return self[code]


def _stem_filter(
    stem: WordFilter, overrides: Mapping[str, str], keywords: Iterable[re.Pattern[str]]
) -> WordFilter:
    keywords = tuple(keywords)

    def stem_word(word: str) -> str:
        override = overrides.get(word)
        if override is not None:
            return override
        return word if any(pattern.fullmatch(word) for pattern in keywords) else stem(word)

    return stem_word


_BUILDERS: Mapping[str, Callable[[Mapping[str, Any]], WordFilter]] = {
    "asciifolding": _ascii_folding,
    "decimal_digit": _decimal_digit,
    "length": _length,
    "lowercase": _lower_case,
    "pattern_replace": _pattern_replace,
    "stop": _stop,
}
