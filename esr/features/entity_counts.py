"""Counts named entities, for `pers`, `loc`, `org` and `ne`."""

from __future__ import annotations

from esr.features.feature import FeatureInput, Values


def count_entities(inputs: FeatureInput, *types: str) -> Values:
    """How many entities of these types each sentence has; None where entities were not looked for."""
    return [
        None if s is None or s.entities is None else float(sum(e.type in types for e in s.entities))
        for s in inputs.annotations
    ]
