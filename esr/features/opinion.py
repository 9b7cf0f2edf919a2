"""Features that count positive and negative words: `pos`, `neg` and `opt`.

They are F_pos, F_neg and F_opt of Fernández & Losada 2012 (docs/formulas.md, B.8). A word counts with the
polarity that it has in its sentence, as in the data of the papers, whose tool labels contextual polarity: in
"not good" it is negative. A negation among the four words before a word inverts its polarity (Wilson, Wiebe &
Hoffmann 2005), unless a clause ends between them; "not only" negates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.features.lexicon import Lexicon
from esr.text.document import Annotation, Token

REACH = 4
_NEGATIONS = (
    "not n't n’t no never nothing nobody none neither nor nowhere cannot without hardly barely scarcely"
)
NEGATIONS = frozenset(_NEGATIONS.split())
CLAUSE_ENDS = frozenset([*",;:.!?()-–—", "but"])


class PolarWords(NamedTuple):
    positive: int
    negative: int


@lru_cache(maxsize=1)  # shared by three features
def count_polar_words(inputs: FeatureInput) -> Sequence[PolarWords | None]:
    """The counts of each sentence; None if it is not in English or the lexicon has no polarity."""
    if not inputs.lexicon.has_polarity:
        return [None] * len(inputs.annotations)
    return [None if s is None else _count_in_sentence(s, inputs.lexicon) for s in inputs.tagged]


def _count_in_sentence(sentence: Annotation, lexicon: Lexicon) -> PolarWords:
    signs = []
    texts = [token.text.lower() for token in sentence.tokens]
    for position, token in enumerate(sentence.tokens):
        clue = lexicon.clue(texts[position], token.tag)
        if clue is not None and clue.polarity:
            negated = _is_negated(position, texts, sentence.tokens)
            signs.append(-clue.polarity if negated else clue.polarity)
    return PolarWords(signs.count(1), signs.count(-1))


def _is_negated(position: int, texts: Sequence[str], tokens: Sequence[Token]) -> bool:
    for before in range(position - 1, max(position - 1 - REACH, -1), -1):
        inside_word = texts[before] == "-" and not tokens[before].space_after
        if texts[before] in CLAUSE_ENDS and not inside_word:
            return False
        if texts[before] in NEGATIONS:
            return texts[before + 1] != "only"
    return False


def select_counts(count: Callable[[PolarWords], int], inputs: FeatureInput) -> Values:
    """One of the counts of each sentence."""
    return [None if words is None else float(count(words)) for words in count_polar_words(inputs)]


_COUNTS: tuple[tuple[str, str, Callable[[PolarWords], int]], ...] = (
    ("pos", "number of positive words; a negation turns the sign", lambda words: words.positive),
    ("neg", "number of negative words; a negation turns the sign", lambda words: words.negative),
    ("opt", "number of positive and negative words: pos + neg", sum),
)
for name, description, count in _COUNTS:
    source = f"Fernández & Losada 2012, F_{name}"
    register(Feature(name, description, source, partial(select_counts, count), ("tags", "lexicon")))
