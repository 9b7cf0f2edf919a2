"""Makes names of what the models of spaCy mark: without articles, and without words that name nothing.

The small models of other languages than English often mark the article before a name ("l’Espagne"), an
elision alone ("L’", "n’") or a word at the beginning of a sentence ("Según").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from esr.enrichment.quotations.speakers import grammar
from esr.enrichment.quotations.word_lists import read_words
from esr.text.sentence_enrichment import Entity

VERSION = 1
"""Increment it when the rules change."""
_ELISION = re.compile(r"(?:qu|[cdjlmnst]|dell|nell|dall|sull|all)['’]\s*")
_CASED = re.compile(r"[^\W\d_]")
_ELIDING = frozenset({"ca", "fr", "it"})
"""Languages in which an apostrophe ends an article or another small word."""


def clean_names(entities: Iterable[Entity], language: str) -> Iterator[Entity]:
    """Yield the names among the entities of a sentence, in a language given by its code.

    A lower-case article is no part of a name (*la Basse-Autriche*), but one with a capital may be (*Le
    Figaro*). Words of scripts that have no capitals stay as they are.
    """
    rules = grammar(language)
    for entity in entities:
        text = entity.text
        while True:
            first, _, rest = text.partition(" ")
            elision = _ELISION.match(text) if language in _ELIDING else None
            if elision:
                text = text[elision.end() :]
            elif rest and first in rules.articles:
                text = rest
            else:
                break
        if _may_name(text, language):
            yield entity if text == entity.text else Entity(text, entity.type)


def _may_name(text: str, language: str) -> bool:
    """Whether a text has a word that may be a name: with a capital or a digit, and no common word."""
    if language in _ELIDING and _ELISION.fullmatch(text.lower()):
        return False
    rules = grammar(language)
    if not all(letter.upper() != letter.lower() for letter in _CASED.findall(text)):
        return any(letter.isalnum() for letter in text)
    words = [word for word in read_words(text) if word.bare not in rules.openers | rules.common]
    return any(letter.isupper() or letter.isdigit() for word in words for letter in word.text)
