"""Positive and negative words of a sentence: what `pos`, `neg` and `opt` count.

A word counts with the sign it has in its sentence, as in the data of the papers, whose tool labels words
by contextual polarity: in "not good" it is negative. A negation among the four words before a word turns
its sign (Wilson, Wiebe & Hoffmann 2005), unless a clause ends between them; "not only" negates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from esr.enrichment.annotation import Annotation, Word
from esr.features.feature import Reading
from esr.features.lexicon import Lexicon

REACH = 4
_NEGATIONS = (
    "not n't n’t no never nothing nobody none neither nor nowhere cannot without hardly barely scarcely"
)
NEGATIONS = frozenset(_NEGATIONS.split())
CLAUSE_ENDS = frozenset([*",;:.!?()-–—", "but"])


class Polarity(NamedTuple):
    positive: int
    negative: int


@lru_cache(maxsize=1)  # three features ask for the same
def counts(reading: Reading) -> Sequence[Polarity | None]:
    """One a sentence; None where it is not known: not annotated, or by a lexicon without polarity."""
    if not reading.lexicon.polar:
        return [None] * len(reading.annotations)
    return [None if s is None else count(s, reading.lexicon) for s in reading.annotations]


def count(sentence: Annotation, lexicon: Lexicon) -> Polarity:
    """The polar words among the content words of a tagged sentence."""
    signs = []
    texts = [word.text.lower() for word in sentence.words]
    for place, word in enumerate(sentence.words):
        clue = lexicon.clue(texts[place], word.tag)
        if clue is not None and clue.polarity:
            signs.append(-clue.polarity if _negated(place, texts, sentence.words) else clue.polarity)
    return Polarity(signs.count(1), signs.count(-1))


def _negated(place: int, texts: Sequence[str], words: Sequence[Word]) -> bool:
    for before in range(place - 1, max(place - 1 - REACH, -1), -1):
        inside_word = texts[before] == "-" and not words[before].blank
        if texts[before] in CLAUSE_ENDS and not inside_word:
            return False
        if texts[before] in NEGATIONS:
            return texts[before + 1] != "only"
    return False
