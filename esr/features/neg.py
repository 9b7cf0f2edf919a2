"""The number of negative words in a sentence (Fernández & Losada 2012, F_neg; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.features.polarity import count_polar_words


def compute(inputs: FeatureInput) -> Values:
    return [None if n is None else float(n.negative) for n in count_polar_words(inputs)]


register(
    Feature(
        "neg",
        "number of negative words; a negation turns the sign",
        "Fernández & Losada 2012, F_neg",
        compute,
        ("tags", "lexicon"),
    )
)
