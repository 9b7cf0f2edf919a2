"""The number of names of places in a sentence (Fernández & Losada 2012, F_loc; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.documents.annotation import LOCATION
from esr.features.entity_counts import count_entities
from esr.features.feature import Feature, FeatureInput, Values, register


def compute(inputs: FeatureInput) -> Values:
    return count_entities(inputs, LOCATION)


register(
    Feature(
        "loc",
        "number of names of places",
        "Fernández & Losada 2012, F_loc",
        compute,
        ("entities",),
    )
)
