"""The number of organisation names in a sentence (Fernández & Losada 2012, F_org; docs/formulas.md, B.8)."""

from __future__ import annotations

from esr.documents.annotation import ORGANIZATION
from esr.features.entity_counts import count_entities
from esr.features.feature import Feature, FeatureInput, Values, register


def compute(inputs: FeatureInput) -> Values:
    return count_entities(inputs, ORGANIZATION)


register(
    Feature(
        "org",
        "number of names of organisations",
        "Fernández & Losada 2012, F_org",
        compute,
        ("entities",),
    )
)
