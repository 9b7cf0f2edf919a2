"""How subjective a sentence is: the score that `subj` compares with its threshold."""

from __future__ import annotations

from functools import lru_cache

from esr.features import clues, style
from esr.features.feature import Feature, FeatureInput, Values, register


@lru_cache(maxsize=1)  # `subj` needs the same
def compute(inputs: FeatureInput) -> Values:
    """The style score; under the rule `clues` 1 for subjective, 0 for objective, 0.5 for undecided."""
    if inputs.rule == "clues":
        return clues.label_sentences(inputs.tagged, inputs.lexicon)
    return [None if s is None else style.score(s, inputs.lexicon) for s in inputs.tagged]


register(
    Feature(
        "subj_score",
        "how subjective the sentence is: words of the lexicon and cues of style; under the rule `clues` "
        "1 for subjective, 0 for objective, 0.5 for undecided",
        "esr; rule `clues`: Riloff & Wiebe 2003",
        compute,
        ("tags", "lexicon"),
    )
)
