"""The number of named entities in a sentence (Fernández & Losada 2012, F_ne; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.documents.annotation import LOCATION, ORGANIZATION, PERSON
from esr.features.entity_counts import count_entities
from esr.features.feature import Feature, FeatureInput, Values, register


def compute(inputs: FeatureInput) -> Values:
    return count_entities(inputs, PERSON, LOCATION, ORGANIZATION)


register(
    Feature(
        "ne",
        "number of named entities: pers + loc + org",
        "Fernández & Losada 2012, F_ne",
        compute,
        ("entities",),
    )
)
