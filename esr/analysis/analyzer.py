"""The analyzers, read from the definition that Elasticsearch gets.

`index_templates/components/esr-analysis.json` is the one definition. This module is a small
interpreter of the parts of it that esr uses: a tokenizer by pattern and a chain of filters. A test
sends text in many scripts through both and finds no difference.
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
"""From a word to what becomes of it: empty where it is dropped. A filter sees one word at a time."""

DEFINITION = "components/esr-analysis.json"
ANALYZERS: dict[str, str] = {
    "plain": "lower-case, split on non-alphanumerics",
    "english": "plain, less the Snowball English stop words (the papers' choice)",
    "english-stem": "english, reduced to Snowball English stems (the default)",
}
DEFAULT = "english-stem"
_REMEMBERED_WORDS = 500_000
_ASCII_LOWER = bytes(code if chr(code).isalnum() else ord(" ") for code in bytes(range(256)).lower())
"""What becomes of each ASCII character: lower case, or a blank to be split at. For `bytes.translate`."""


class Analyzer:
    """Turns text into terms. Make one with `get`; it is safe to share between threads."""

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name = name
        definition = settings["analyzer"][name]
        pattern = settings["tokenizer"][definition["tokenizer"]]["pattern"]
        self._split = re.compile(pattern).split
        self._lower = _LowerCase(pattern)
        assert definition["filter"][0] == "lowercase", "text is lowered before it is split"
        self._terms = _Terms(_filters([settings["filter"][name] for name in definition["filter"][1:]]))

    def terms(self, text: str) -> Terms:
        """The terms of a text, in order, repeated as they stand."""
        return [term for term in map(self._terms.__getitem__, self.words(text)) if term]

    def words(self, text: str) -> list[str]:
        """The words of a text in lower case, of which `term` makes terms. Empty ones may be among them."""
        # Lowering first is the same as lowering after the split: both go letter by letter.
        if text.isascii():
            return self.spaced(text).decode().split()
        return self._split(text.translate(self._lower))

    def spaced(self, text: str) -> bytes:
        """The words of a text as UTF-8, with blanks between."""
        if text.isascii():
            return text.encode().translate(_ASCII_LOWER)
        return " ".join(self.words(text)).encode()

    def term(self, word: str) -> str:
        """The term of one of the words of a text; empty where it has none, as a stop word has none."""
        return self._terms[word]


@cache
def get(name: str) -> Analyzer:
    """The analyzer of that name. Raises UsageError with the nearest name."""
    if name not in ANALYZERS:
        raise unknown("analyzer", name, ANALYZERS)
    return Analyzer(name, resources.load(DEFINITION)["template"]["settings"]["analysis"])


class _LowerCase(dict[int, str]):
    """Lower case letter by letter, as Lucene does it: no final sigma, and İ is i. Filled as letters come."""

    def __init__(self, pattern: str) -> None:
        super().__init__()
        self._between = re.compile(pattern)

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        # What is no letter of the pattern stays as it is, and is split at.
        self[code] = letter if self._between.match(letter) else letter.lower()[0]
        return self[code]


def _filters(chain: list[dict[str, Any]]) -> list[WordFilter]:
    """The chain as functions. What keeps words from the stemmer stands before it, as in Lucene."""
    made: list[WordFilter] = []
    exceptions: dict[str, str] = {}
    kept = re.compile("(?!)")
    for settings in chain:
        match settings["type"]:
            case "length":
                made.append(_length(settings["max"]))
            case "stop":
                made.append(_stop(settings["stopwords"]))
            case "stemmer_override":
                exceptions = dict(rule.split(" => ") for rule in settings["rules"])
            case "keyword_marker":
                kept = re.compile(settings["keywords_pattern"])
            case "snowball":
                made.append(_stem(settings["language"].lower(), exceptions, kept))
            case other:
                raise ValueError(f"no interpreter for the filter type {other!r}")
    return made


def _length(most: int) -> WordFilter:
    """Lucene counts UTF-16 units."""

    def units(word: str) -> int:
        return len(word) if word.isascii() else len(word.encode("utf-16-le")) // 2

    return lambda word: word if len(word) * 2 <= most or units(word) <= most else ""


def _stop(stopwords: Iterable[str]) -> WordFilter:
    words = frozenset(stopwords)
    return lambda word: "" if word in words else word


def _stem(language: str, exceptions: dict[str, str], kept: re.Pattern[str]) -> WordFilter:
    stemmer = Stemmer.Stemmer(language, 0)

    def stem(word: str) -> str:
        found: str | None = exceptions.get(word)
        if found is None:
            found = word if kept.fullmatch(word) else stemmer.stemWord(word)
        return found

    return stem


class _Terms(dict[str, str]):
    """Terms by word, remembered: news repeats its words."""

    def __init__(self, filters: list[WordFilter]) -> None:
        super().__init__()
        self._filters = filters

    def __missing__(self, word: str) -> str:
        if len(self) > _REMEMBERED_WORDS:
            self.clear()
        term = word
        for each in self._filters:
            term = term and each(term)
        self[word] = term
        return term
