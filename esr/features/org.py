"""The number of organisation names in a sentence (Fernández & Losada 2012, F_org; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.enrichment.annotation import ORGANIZATION
from esr.features.entities import count
from esr.features.feature import Feature, Reading, Values, register


def values(reading: Reading) -> Values:
    return count(reading, ORGANIZATION)


register(
    Feature(
        "org",
        "number of names of organisations",
        "Fernández & Losada 2012, F_org",
        values,
        ("entities",),
    )
)
