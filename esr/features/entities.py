"""Counts named entities, for `pers`, `loc`, `org` and `ne`.

The number of persons' names in a sentence (Fernández & Losada 2012, F_pers; docs/formulas.md, B.8).

The number of names of places in a sentence (Fernández & Losada 2012, F_loc; docs/formulas.md, B.8).

The number of organisation names in a sentence (Fernández & Losada 2012, F_org; docs/formulas.md, B.8).

The number of named entities in a sentence (Fernández & Losada 2012, F_ne; docs/formulas.md, B.8).
"""

from __future__ import annotations

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.text.document import LOCATION, ORGANIZATION, PERSON


def count_entities(inputs: FeatureInput, *types: str) -> Values:
    """How many entities of these types each sentence has; None where entities were not looked for."""
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
