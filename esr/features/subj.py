"""Whether a sentence is subjective (Fernández & Losada 2012, F_subj; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.features import subj_score
from esr.features.feature import Feature, Reading, Values, register

THRESHOLD = {
    # Makes about 30 % of newswire subjective.
    "score": 1.37,
    # Unknown is not subjective, as in the paper.
    "clues": 1.0,
}


def values(reading: Reading) -> Values:
    least = THRESHOLD[reading.rule]
    return [None if score is None else float(score >= least) for score in subj_score.values(reading)]


register(
    Feature(
        "subj",
        "1 if the sentence is subjective, else 0",
        "Fernández & Losada 2012, F_subj",
        values,
        ("tags", "lexicon"),
    )
)
