"""The number of names of places in a sentence (Fernández & Losada 2012, F_loc; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.enrichment.annotation import LOCATION
from esr.features.entities import count
from esr.features.feature import Feature, Reading, Values, register


def values(reading: Reading) -> Values:
    return count(reading, LOCATION)


register(
    Feature(
        "loc",
        "number of names of places",
        "Fernández & Losada 2012, F_loc",
        values,
        ("entities",),
    )
)
