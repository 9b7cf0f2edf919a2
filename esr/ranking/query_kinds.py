"""Kinds of queries, told apart by their form, and the parameters of words and vectors that fit each kind.

The kinds, their parameters and the words that tell questions and statements are data, in query_kinds.json; so
are factors of the weights for encoders whose similarities spread more. The words are those of some languages:
in another language, only the mark at the end tells questions and statements.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

QUESTION, STATEMENT, LONG, SHORT = "question", "statement", "long", "short"
"""The kinds: questions, sentences such as claims, and other queries of many words and of few."""
_FILE = Path(__file__).with_suffix(".json")
_WORD = r"[^\W_]+(?:['’][^\W_]+)*"
_ENDS_WITH_MARK = r"[?？؟]\W*$"
_ENDS_WITH_STOP = r"[.!。！।۔]\W*$"
_REMEMBERED = 8
"""Number of texts whose kind is remembered. A search asks several times, for its query and for no text."""


class QueryKind(Struct, frozen=True):
    """A kind of queries: its name, the form that it is known by, and the parameters that fit it.

    `weights` are those of the signal `meaning`, `model` those of the default model beside it.
    """

    name: str
    form: str
    weights: Mapping[str, float]
    model: Mapping[str, float]

    def weights_for(self, encoder: str) -> Mapping[str, float]:
        """The weights for the vectors of an encoder, given by its name."""
        factors = _read()["encoders"].get(encoder, {})
        return {name: value * factors.get(name, 1.0) for name, value in self.weights.items()}


@lru_cache(_REMEMBERED)
def find_kind(text: str) -> QueryKind:
    """The kind of a query, by the form of its text."""
    return list_kinds()[_classify(text)]


@cache
def list_kinds() -> Mapping[str, QueryKind]:
    """All kinds by name."""
    return {name: QueryKind(name, **kind) for name, kind in _read()["kinds"].items()}


def _classify(text: str) -> str:
    if re.search(_ENDS_WITH_MARK, text):
        return QUESTION
    words = re.findall(_WORD, text)
    lower = [word.lower().replace("’", "'") for word in words]
    if _begins_as_question(lower) and not _begins_with_acronym(words):
        return QUESTION
    if len(words) < _read()["long_words"]:
        return SHORT
    return STATEMENT if re.search(_ENDS_WITH_STOP, text) or _has_words_of_statements(lower) else LONG


def _begins_as_question(words: list[str]) -> bool:
    """Whether lower-case words begin with a question word, also after a preposition, or with an auxiliary."""
    if not words:
        return False
    first, second = words[0], words[1] if len(words) > 2 else ""
    after_preposition = first in _words("preposition") and second in _words("question")
    return first in _words("question") or after_preposition or bool(second and first in _words("auxiliary"))


def _has_words_of_statements(words: list[str]) -> bool:
    """Whether lower-case words have enough of those that headlines leave out."""
    return sum(word in _words("statement") for word in words) >= int(_read()["statement_words"])


def _begins_with_acronym(words: list[str]) -> bool:
    """Whether the first word is in capitals and others are not, as in "WHO declares a pandemic"."""
    return len(words[0]) > 1 and words[0].isupper() and not all(word.isupper() for word in words)


@cache
def _words(group: str) -> frozenset[str]:
    """The words of a group, in all languages."""
    return frozenset(word for groups in _read()["words"].values() for word in groups[group].split())


@cache
def _read() -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads(_FILE.read_text("utf-8"))
    return data
