"""The number of polar words in a sentence (Fernández & Losada 2012, F_opt; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.features.polarity import count_polar_words


def compute(inputs: FeatureInput) -> Values:
    return [None if n is None else float(n.positive + n.negative) for n in count_polar_words(inputs)]


register(
    Feature(
        "opt",
        "number of positive and negative words: pos + neg",
        "Fernández & Losada 2012, F_opt",
        compute,
        ("tags", "lexicon"),
    )
)
