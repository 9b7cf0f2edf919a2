"""The analyzers, read from the definition that Elasticsearch gets.

`index_templates/components/esr-analysis.json` is the only definition. This module interprets the parts of it
that esr uses: a pattern tokenizer and a chain of token filters. A test sends text in many scripts through
both interpreters and finds no difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import Stemmer

from esr import resources
from esr.errors import unknown

Terms = list[str]
WordFilter = Callable[[str], str]
"""From a word to what replaces it, empty to drop it. A filter sees one word at a time."""

DEFINITION = "components/esr-analysis.json"
ANALYZERS: dict[str, str] = {
    "plain": "lower-case, split on non-alphanumerics",
    "english": "plain, less the Snowball English stop words (the papers' choice)",
    "english-stem": "english, reduced to Snowball English stems (the default)",
}
DEFAULT = "english-stem"
_MAX_CACHED_WORDS = 500_000
_ASCII_LOWER = bytes(code if chr(code).isalnum() else ord(" ") for code in bytes(range(256)).lower())
"""Maps an ASCII character to lower case, or to a space that words are split at. For `bytes.translate`."""


class Analyzer:
    """Turns text into terms. Get one by `get`; threads may share it."""

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name = name
        definition = settings["analyzer"][name]
        pattern = settings["tokenizer"][definition["tokenizer"]]["pattern"]
        self._split = re.compile(pattern).split
        self._lower = _LowerCase(pattern)
        assert definition["filter"][0] == "lowercase", "text is lowercased before it is split"
        chain = [settings["filter"][name] for name in definition["filter"][1:]]
        self._terms = _TermCache(_build_filters(chain))

    def terms(self, text: str) -> Terms:
        """The terms of a text, in order, with repetitions."""
        return [term for term in map(self._terms.__getitem__, self.words(text)) if term]

    def words(self, text: str) -> list[str]:
        """The words of a text in lower case, the input of `term`. Some may be empty."""
        # Lowercasing before the split gives the same as after it: both go letter by letter.
        if text.isascii():
            return self.split_to_bytes(text).decode().split()
        return self._split(text.translate(self._lower))

    def split_to_bytes(self, text: str) -> bytes:
        """The words of a text as UTF-8, separated by spaces."""
        if text.isascii():
            return text.encode().translate(_ASCII_LOWER)
        return " ".join(self.words(text)).encode()

    def term(self, word: str) -> str:
        """The term of one of the words of a text; empty where it has none, such as a stop word."""
        return self._terms[word]


@cache
def get(name: str) -> Analyzer:
    """The analyzer of that name. Raises UsageError with the nearest name."""
    if name not in ANALYZERS:
        raise unknown("analyzer", name, ANALYZERS)
    return Analyzer(name, resources.load_json(DEFINITION)["template"]["settings"]["analysis"])


class _LowerCase(dict[int, str]):
    """Lower case letter by letter, as in Lucene: no final sigma, and İ is i. Filled as letters occur."""

    def __init__(self, pattern: str) -> None:
        super().__init__()
        self._separator = re.compile(pattern)

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        # A separator stays as it is: the text is split there.
        self[code] = letter if self._separator.match(letter) else letter.lower()[0]
        return self[code]


def _build_filters(chain: list[dict[str, Any]]) -> list[WordFilter]:
    """The chain as functions. Filters that protect words from the stemmer precede it, as in Lucene."""
    filters: list[WordFilter] = []
    overrides: dict[str, str] = {}
    keywords = re.compile("(?!)")
    for settings in chain:
        match settings["type"]:
            case "length":
                filters.append(_length_filter(settings["max"]))
            case "stop":
                filters.append(_stop_filter(settings["stopwords"]))
            case "stemmer_override":
                overrides = dict(rule.split(" => ") for rule in settings["rules"])
            case "keyword_marker":
                keywords = re.compile(settings["keywords_pattern"])
            case "snowball":
                filters.append(_stem_filter(settings["language"].lower(), overrides, keywords))
            case unsupported:
                raise ValueError(f"the filter type {unsupported!r} is not supported")
    return filters


def _length_filter(max_length: int) -> WordFilter:
    """Drops longer words. Lucene counts UTF-16 units."""

    def units(word: str) -> int:
        return len(word) if word.isascii() else len(word.encode("utf-16-le")) // 2

    return lambda word: word if len(word) * 2 <= max_length or units(word) <= max_length else ""


def _stop_filter(stopwords: Iterable[str]) -> WordFilter:
    words = frozenset(stopwords)
    return lambda word: "" if word in words else word


def _stem_filter(language: str, overrides: dict[str, str], keywords: re.Pattern[str]) -> WordFilter:
    stemmer = Stemmer.Stemmer(language, 0)

    def stem(word: str) -> str:
        override: str | None = overrides.get(word)
        if override is not None:
            return override
        stemmed: str = word if keywords.fullmatch(word) else stemmer.stemWord(word)
        return stemmed

    return stem


class _TermCache(dict[str, str]):
    """Terms by word: news repeats its words."""

    def __init__(self, filters: list[WordFilter]) -> None:
        super().__init__()
        self._filters = filters

    def __missing__(self, word: str) -> str:
        if len(self) > _MAX_CACHED_WORDS:
            self.clear()
        term = word
        for word_filter in self._filters:
            term = term and word_filter(term)
        self[word] = term
        return term
