"""Stemmers of Lucene's that are no Snowball stemmers, in Python. Tests compare them with Elasticsearch's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_GERMAN_LETTERS = str.maketrans("äàáâöòóôïìíîüùúû", "aaaaooooiiiiuuuu")
_BEFORE_GERMAN_S = frozenset("bdfghklmnt")


def light_german(word: str) -> str:
    """The endings of German nouns, adjectives and verbs (J. Savoy's light stemmer)."""
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
"""By the name that Elasticsearch's filter `stemmer` knows."""
