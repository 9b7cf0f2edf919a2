"""Features that count named entities: `pers`, `loc`, `org` and `ne`.

They are F_pers, F_loc, F_org and F_ne of Fernández & Losada 2012 (docs/formulas.md, B.8).
"""

from __future__ import annotations

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.text.document import LOCATION, ORGANIZATION, PERSON


def count_entities(inputs: FeatureInput, *types: str) -> Values:
    """How many entities of these types each sentence has; None if entities were not looked for."""
    return [
        None if s is None or s.entities is None else float(sum(e.type in types for e in s.entities))
        for s in inputs.annotations
    ]


def count_persons(inputs: FeatureInput) -> Values:
    return count_entities(inputs, PERSON)


register(
    Feature(
        "pers",
        "number of persons' names",
        "Fernández & Losada 2012, F_pers",
        count_persons,
        ("entities",),
    )
)


def count_places(inputs: FeatureInput) -> Values:
    return count_entities(inputs, LOCATION)


register(
    Feature(
        "loc",
        "number of names of places",
        "Fernández & Losada 2012, F_loc",
        count_places,
        ("entities",),
    )
)


def count_organizations(inputs: FeatureInput) -> Values:
    return count_entities(inputs, ORGANIZATION)


register(
    Feature(
        "org",
        "number of names of organisations",
        "Fernández & Losada 2012, F_org",
        count_organizations,
        ("entities",),
    )
)


def count_names(inputs: FeatureInput) -> Values:
    return count_entities(inputs, PERSON, LOCATION, ORGANIZATION)


register(
    Feature(
        "ne",
        "number of named entities: pers + loc + org",
        "Fernández & Losada 2012, F_ne",
        count_names,
        ("entities",),
    )
)
