"""The columns of a segment that features are read from: lengths, places and given features."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from weakref import WeakKeyDictionary

import numpy as np

from esr.engines.embedded.segment import Segment
from esr.plans.evidence import Array
from esr.plans.plan import FEATURES


def column(segment: Segment, name: str) -> Array:
    """A column of shape (sentences,): `length`, `position` or `features.<name>`, NaN where not known."""
    if name == "length":
        return np.array(segment.column("length"), np.float64)
    if name == "position":
        first: Array = segment.column("first")[segment.column("document")].astype(float)
        return np.arange(segment.sentence_count) - first
    return values(segment, name.removeprefix(FEATURES))


def values(segment: Segment, name: str) -> Array:
    """A feature's values, of shape (sentences,), NaN where it is not known."""
    found = _given(segment).get(name)
    return np.full(segment.sentence_count, np.nan) if found is None else found


def names(segment: Segment) -> Collection[str]:
    """The features that some sentence of the segment has."""
    return _given(segment).keys()


_READ: WeakKeyDictionary[Segment, Mapping[str, Array]] = WeakKeyDictionary()


def _given(segment: Segment) -> Mapping[str, Array]:
    """The features given in the documents. Reading them takes a look at every document, once."""
    if segment not in _READ:
        found: dict[str, Array] = {}
        first = segment.column("first")
        for number in range(len(segment.documents)):
            for place, sentence in enumerate(segment.document(number).sentences, int(first[number])):
                for name, value in sentence.features.items():
                    if name not in found:
                        found[name] = np.full(segment.sentence_count, np.nan)
                    found[name][place] = value
        _READ[segment] = found
    return _READ[segment]
