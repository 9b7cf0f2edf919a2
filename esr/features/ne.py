"""The number of named entities in a sentence (Fernández & Losada 2012, F_ne; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.enrichment.annotation import LOCATION, ORGANIZATION, PERSON
from esr.features.entities import count
from esr.features.feature import Feature, Reading, Values, register


def values(reading: Reading) -> Values:
    return count(reading, PERSON, LOCATION, ORGANIZATION)


register(
    Feature(
        "ne",
        "number of named entities: pers + loc + org",
        "Fernández & Losada 2012, F_ne",
        values,
        ("entities",),
    )
)
