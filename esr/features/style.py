"""How subjective a tagged sentence reads: words of a lexicon and cues of style, weighted by hand.

The weights were not fitted to any data. Every count has a cap, and the sum is divided by ln(2 + words),
so that a long sentence is not subjective for its length.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from esr.enrichment.annotation import Annotation
from esr.features.lexicon import Lexicon

MOST_CLUES = 4
MOST = 3  # of every cue of style


class Cue(NamedTuple):
    """Words with one of these tags or of this list, less the exceptions."""

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
    """The score of a tagged sentence, about -1.5 to 6. It needs no other sentence and no query."""
    counts = [0] * len(_WEIGHTS)
    clues = 0
    for word in sentence.words:
        text = word.text.lower()
        for cue in _BY_TAG.get(word.tag, ()):
            counts[cue] += text not in _BUT[cue]
        for cue in _BY_WORD.get(text, ()):
            counts[cue] += 1
        clues += lexicon.clue(text, word.tag) is not None
    style = sum(weight * min(count, MOST) for weight, count in zip(_WEIGHTS, counts, strict=True))
    return (min(clues, MOST_CLUES) + style) / math.log(2 + len(sentence.words))


_WEIGHTS = [cue.weight for cue in CUES.values()]
_BUT = [frozenset(cue.but.split()) for cue in CUES.values()]


def _places(field: str) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, cue in enumerate(CUES.values()):
        for key in getattr(cue, field).split():
            places.setdefault(key, []).append(place)
    return places


_BY_TAG, _BY_WORD = _places("tags"), _places("words")
