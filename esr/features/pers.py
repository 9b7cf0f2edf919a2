"""The number of persons' names in a sentence (Fernández & Losada 2012, F_pers; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.enrichment.annotation import PERSON
from esr.features.entities import count
from esr.features.feature import Feature, Reading, Values, register


def values(reading: Reading) -> Values:
    return count(reading, PERSON)


register(
    Feature(
        "pers",
        "number of persons' names",
        "Fernández & Losada 2012, F_pers",
        values,
        ("entities",),
    )
)
