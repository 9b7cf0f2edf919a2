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
TermFilter = Callable[[Terms], Terms]

DEFINITION = "components/esr-analysis.json"
ANALYZERS: dict[str, str] = {
    "plain": "lower-case, split on non-alphanumerics",
    "english": "plain, less the Snowball English stop words (the papers' choice)",
    "english-stem": "english, reduced to Snowball English stems (the default)",
}
DEFAULT = "english-stem"
_REMEMBERED_STEMS = 500_000


class Analyzer:
    """Turns text into terms. Make one with `get`; it is safe to share between threads."""

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name = name
        definition = settings["analyzer"][name]
        pattern = settings["tokenizer"][definition["tokenizer"]]["pattern"]
        self._split = re.compile(pattern).split
        self._split_ascii = re.compile("[^0-9a-z]+").split
        self._lower = _LowerCase(pattern)
        assert definition["filter"][0] == "lowercase", "text is lowered before it is split"
        self._filters = _filters([settings["filter"][name] for name in definition["filter"][1:]])

    def terms(self, text: str) -> Terms:
        """The terms of a text, in order, repeated as they stand."""
        # Lowering first is the same as lowering after the split: both go letter by letter.
        terms = (
            self._split_ascii(text.lower()) if text.isascii() else self._split(text.translate(self._lower))
        )
        if terms and not terms[0]:
            del terms[0]
        if terms and not terms[-1]:
            del terms[-1]
        for each in self._filters:
            terms = each(terms)
        return terms


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


def _filters(chain: list[dict[str, Any]]) -> list[TermFilter]:
    """The chain as functions. What keeps words from the stemmer stands before it, as in Lucene."""
    made: list[TermFilter] = []
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
                stems = _Stems(settings["language"].lower(), exceptions, kept)
                made.append(lambda terms, stems=stems: [stems[t] for t in terms])  # type: ignore[misc]
            case other:
                raise ValueError(f"no interpreter for the filter type {other!r}")
    return made


def _length(most: int) -> TermFilter:
    """Lucene counts UTF-16 units."""

    def units(term: str) -> int:
        return len(term) if term.isascii() else len(term.encode("utf-16-le")) // 2

    return lambda terms: [t for t in terms if len(t) * 2 <= most or units(t) <= most]


def _stop(stopwords: Iterable[str]) -> TermFilter:
    words = frozenset(stopwords)
    return lambda terms: [t for t in terms if t not in words]


class _Stems(dict[str, str]):
    """Stems by word, remembered: news repeats its words."""

    def __init__(self, language: str, exceptions: dict[str, str], kept: re.Pattern[str]) -> None:
        super().__init__(exceptions)
        self._stemmer = Stemmer.Stemmer(language, 0)
        self._exceptions = exceptions
        self._kept = kept

    def __missing__(self, word: str) -> str:
        if len(self) > _REMEMBERED_STEMS:
            self.clear()
            self.update(self._exceptions)
        stem: str = word if self._kept.fullmatch(word) else self._stemmer.stemWord(word)
        self[word] = stem
        return stem
