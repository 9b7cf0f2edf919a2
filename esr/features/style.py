"""How subjective a tagged sentence reads: words of a lexicon and cues of style, weighted by hand.

The weights were not fitted to any data. Each count is capped, and the sum is divided by ln(2 + words), so
that a long sentence is not subjective for its length alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from esr.documents.annotation import Annotation
from esr.features.lexicon import Lexicon

MAX_CLUES = 4
MAX_PER_CUE = 3


class Cue(NamedTuple):
    """Tokens with one of these tags, except those in `but`, or words of this list."""

    weight: float
    tags: str = ""
    words: str = ""
    but: str = ""


CUES = {
    "pronouns": Cue(0.5, tags="PRP PRP$"),
    "first and second person": Cue(
        0.5, words="i me my mine myself we us our ours ourselves you your yours yourself yourselves"
    ),
    "modals": Cue(1.0, tags="MD", but="will 'll ’ll wo"),
    "adjectives": Cue(0.5, tags="JJ JJR JJS"),
    "adverbs": Cue(0.7, tags="RB RBR RBS", but="not n't n’t"),
    "numbers": Cue(-1.0, tags="CD"),
    "questions and exclamations": Cue(1.5, words="? !"),
    "discourse words": Cue(
        0.7,
        words="although but though however nevertheless nonetheless yet despite instead rather thus hence "
        "therefore indeed moreover furthermore besides still anyway otherwise whereas",
    ),
    "intensifiers": Cue(
        0.7,
        words="absolutely all almost always completely deeply ever extremely far fully highly incredibly "
        "just least less more most much never only quite really simply so such too totally truly utterly "
        "very",
    ),
    "negations": Cue(0.5, words="not n't n’t no never nothing nobody none neither nor nowhere hardly cannot"),
    "hedges": Cue(
        1.0,
        words="apparently arguably certainly clearly likely maybe obviously perhaps possibly presumably "
        "probably seem seems seemed seemingly supposedly surely undoubtedly unlikely "
        "appear appears believe think feel suppose guess",
    ),
}


def score(sentence: Annotation, lexicon: Lexicon) -> float:
    """The score of a tagged sentence, about -1.5 to 6. It depends on no other sentence and on no query."""
    counts = [0] * len(_WEIGHTS)
    clues = 0
    for token in sentence.tokens:
        text = token.text.lower()
        for cue in _CUES_BY_TAG.get(token.tag, ()):
            counts[cue] += text not in _EXCEPTIONS[cue]
        for cue in _CUES_BY_WORD.get(text, ()):
            counts[cue] += 1
        clues += lexicon.clue(text, token.tag) is not None
    style = sum(weight * min(count, MAX_PER_CUE) for weight, count in zip(_WEIGHTS, counts, strict=True))
    return (min(clues, MAX_CLUES) + style) / math.log(2 + len(sentence.tokens))


_WEIGHTS = [cue.weight for cue in CUES.values()]
_EXCEPTIONS = [frozenset(cue.but.split()) for cue in CUES.values()]


def _cues_by(field: str) -> dict[str, list[int]]:
    """The numbers of the cues that have each tag, or each word."""
    numbers: dict[str, list[int]] = {}
    for number, cue in enumerate(CUES.values()):
        for key in getattr(cue, field).split():
            numbers.setdefault(key, []).append(number)
    return numbers


_CUES_BY_TAG, _CUES_BY_WORD = _cues_by("tags"), _cues_by("words")
