"""Whether a sentence is subjective (Fernández & Losada 2012, F_subj; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.features import subj_score
from esr.features.feature import Feature, FeatureInput, Values, register

THRESHOLD = {
    # Makes about 30 % of newswire subjective.
    "score": 1.37,
    # An undecided sentence is not subjective, as in the paper.
    "clues": 1.0,
}


def compute(inputs: FeatureInput) -> Values:
    threshold = THRESHOLD[inputs.rule]
    return [None if score is None else float(score >= threshold) for score in subj_score.compute(inputs)]


register(
    Feature(
        "subj",
        "1 if the sentence is subjective, else 0",
        "Fernández & Losada 2012, F_subj",
        compute,
        ("tags", "lexicon"),
    )
)
