"""The number of persons' names in a sentence (Fernández & Losada 2012, F_pers; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.documents.annotation import PERSON
from esr.features.entity_counts import count_entities
from esr.features.feature import Feature, FeatureInput, Values, register


def compute(inputs: FeatureInput) -> Values:
    return count_entities(inputs, PERSON)


register(
    Feature(
        "pers",
        "number of persons' names",
        "Fernández & Losada 2012, F_pers",
        compute,
        ("entities",),
    )
)
