"""Features that count named entities: `pers`, `loc`, `org` and `ne`.

They are F_pers, F_loc, F_org and F_ne of Fernández & Losada 2012 (docs/formulas.md, B.8).
"""

from __future__ import annotations

from functools import partial

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.text.document import LOCATION, ORGANIZATION, PERSON


def count_entities(types: tuple[str, ...], inputs: FeatureInput) -> Values:
    """How many entities of these types each sentence has; None if entities were not looked for."""
    return [
        None if s is None or s.entities is None else float(sum(e.type in types for e in s.entities))
        for s in inputs.annotations
    ]


for name, description, types in (
    ("pers", "number of persons' names", (PERSON,)),
    ("loc", "number of names of places", (LOCATION,)),
    ("org", "number of names of organisations", (ORGANIZATION,)),
    ("ne", "number of named entities: pers + loc + org", (PERSON, LOCATION, ORGANIZATION)),
):
    source = f"Fernández & Losada 2012, F_{name}"
    register(Feature(name, description, source, partial(count_entities, types), ("entities",)))
