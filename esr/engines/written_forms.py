"""How people write a word that is known as the analyzer `words` has it: Beyoncé for beyonce."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from esr import analysis
from esr.analysis.definitions import WORDS

SAMPLE = 10
"""Sentences from which is read how people write a word: the first of the collection that have it."""


def choose_written_form(word: str, texts: Iterable[str]) -> str:
    """The form in which a word stands most often in these texts; the word itself if none has it."""
    written: Counter[str] = Counter()
    tokens = analysis.get(WORDS).tokens
    for text in texts:
        written.update(text[token.start : token.end] for token in tokens(text) if token.term == word)
    return min(written, key=lambda form: (-written[form], form), default=word)
