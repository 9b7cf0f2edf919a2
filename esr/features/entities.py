"""Counts of named entities: what `pers`, `loc`, `org` and `ne` are."""

from __future__ import annotations

from esr.features.feature import Reading, Values


def count(reading: Reading, *types: str) -> Values:
    """How many entities of these types every sentence has; None where they were not looked for."""
    return [
        None if s is None or s.entities is None else float(sum(e.type in types for e in s.entities))
        for s in reading.annotations
    ]
