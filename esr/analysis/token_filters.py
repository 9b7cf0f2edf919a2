"""Token filters of Elasticsearch, in Python: each turns one word into what replaces it, or into nothing.

A filter sees one word at a time, so its results can be cached. Filters that make several terms of a word, or
look at the words around it, belong to the tokenizer: `word_splitting.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import Stemmer

from esr.analysis import light_stemmers
from esr.analysis.patterns import compile_pattern
from esr.analysis.tables import CharacterTable

WordFilter = Callable[[str], str]
"""From a word to what replaces it, empty to drop it."""


def build_token_filters(chain: Sequence[Mapping[str, Any]]) -> list[WordFilter]:
    """The filters of a definition. Filters that protect words from a stemmer precede it, as in Lucene.

    Raises ValueError for a type that this module lacks.
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
                stemmer = Stemmer.Stemmer(settings["language"].lower(), 0)
                filters.append(_stem_filter(stemmer.stemWord, overrides, keywords))
            case "stemmer":
                stem = light_stemmers.STEMMERS[settings["language"]]
                filters.append(_stem_filter(stem, overrides, keywords))
            case type:
                if type not in _BUILDERS:
                    raise ValueError(f"the filter type {type!r} is not supported")
                filters.append(_BUILDERS[type](settings))
    return filters


def _lower_case(_: Mapping[str, Any]) -> WordFilter:
    """Lower case letter by letter, as in Lucene: no final sigma, and İ is i."""
    table = _LowerCase()
    return lambda word: word.lower() if word.isascii() else word.translate(table)


class _LowerCase(dict[int, str]):
    """The lower case of each letter. Filled as letters occur."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code).lower()[0]
        return self[code]


def _length(settings: Mapping[str, Any]) -> WordFilter:
    """Drops shorter and longer words. Lucene counts UTF-16 units."""
    shortest, longest = settings.get("min", 0), settings["max"]

    def units(word: str) -> int:
        return len(word) if word.isascii() else len(word.encode("utf-16-le", "surrogatepass")) // 2

    return lambda word: word if shortest <= len(word) and units(word) <= longest else ""


def _stop(settings: Mapping[str, Any]) -> WordFilter:
    words = frozenset(settings["stopwords"])
    return lambda word: "" if word in words else word


def _pattern_replace(settings: Mapping[str, Any]) -> WordFilter:
    pattern, replacement = compile_pattern(settings["pattern"]), settings.get("replacement", "")
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
