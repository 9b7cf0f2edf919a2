"""The number of positive words in a sentence (Fernández & Losada 2012, F_pos; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.features.feature import Feature, Reading, Values, register
from esr.features.polarity import counts


def values(reading: Reading) -> Values:
    return [None if n is None else float(n.positive) for n in counts(reading)]


register(
    Feature(
        "pos",
        "number of positive words; a negation turns the sign",
        "Fernández & Losada 2012, F_pos",
        values,
        ("tags", "lexicon"),
    )
)
