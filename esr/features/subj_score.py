"""How subjective a sentence is: what `subj` decides on."""

from __future__ import annotations

from functools import lru_cache

from esr.features import clues, style
from esr.features.feature import Feature, Reading, Values, register


@lru_cache(maxsize=1)  # `subj` asks for the same
def values(reading: Reading) -> Values:
    """The style score; under the rule `clues` 1 for subjective, 0 for objective, 0.5 for unknown."""
    if reading.rule == "clues":
        return clues.labels(reading.annotations, reading.lexicon)
    return reading.each(lambda sentence: style.score(sentence, reading.lexicon))


register(
    Feature(
        "subj_score",
        "how subjective the sentence is: words of the lexicon and cues of style; under the rule `clues` "
        "1 for subjective, 0 for objective, 0.5 for unknown",
        "esr; rule `clues`: Riloff & Wiebe 2003",
        values,
        ("tags", "lexicon"),
    )
)
