"""What is stored beside one segment: its layers, the later over the earlier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.documents.enrichment import PARTS
from esr.engines.entities import Grouped, wanted
from esr.engines.segments.store.layer import Layer, Numbers, Run
from esr.plans.evidence import Array


class Span(NamedTuple):
    """Sentences `low` to `high` (not included) of a segment that a layer has the word on."""

    low: int
    high: int
    first: int
    """The number of the layer's first sentence in the segment."""
    layer: Layer


class Named(NamedTuple):
    """Names by their numbers in a layer, and in how many sentences each is."""

    layer: Layer
    numbers: Numbers
    counts: Numbers

    @property
    def hashes(self) -> npt.NDArray[np.uint64]:
        return np.asarray(self.layer.arrays["entity.hashes"][self.numbers])

    def of(self, type: int) -> Named:
        """Those of a type, given by its place in TYPES."""
        own = self.layer.arrays["entity.types"][self.numbers] == type
        return Named(self.layer, self.numbers[own], self.counts[own])


class Layers:
    """Finds a sentence's features, entities and parse. Numbers are those of the segment."""

    def __init__(self, layers: Sequence[tuple[Run, Layer]], first: Numbers, sentences: int) -> None:
        self._sentences = sentences
        runs = [run for run, _ in layers]
        self._spans: dict[str, list[Span]] = {part: [] for part in PARTS}
        for part in PARTS if layers else ():
            for start, stop, owner in pieces(owners(runs, part, len(first) - 1)):
                run, layer = layers[owner]
                span = Span(int(first[start]), int(first[stop]), int(first[run.start]), layer)
                self._spans[part].append(span)
        self.features = sorted({name for span in self._spans["features"] for name in span.layer.features})

    def feature(self, name: str, at: Numbers) -> Array:
        """Values of shape (n,), NaN where not known."""
        values = np.full(len(at), np.nan)
        for span, places, inside in self._split("features", at):
            if name in span.layer.features:
                values[places] = span.layer.features[name][inside]
        return values

    def parses(self, at: Numbers) -> list[bytes | None]:
        """The stored parse of each sentence, None where there is none."""
        found: list[bytes | None] = [None] * len(at)
        for span, places, inside in self._split("parse", at):
            for place, blob in zip(places.tolist(), span.layer.parses(inside), strict=True):
                found[place] = blob
        return found

    def entities(self, number: int) -> Grouped | None:
        """A sentence's entities, None if they were not looked for."""
        for span in self._spans["entities"]:
            if span.low <= number < span.high:
                return span.layer.entities(number - span.first)
        return None

    def with_entities(self, names: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Which sentences have one of these entities, named as a filter names them."""
        chosen = np.zeros(self._sentences, bool)
        keys = [f"{entity.type}:{entity.text}" for name in names for entity in wanted(name)]
        for span in self._spans["entities"]:
            for key in keys:
                numbers = span.layer.sentences_with(key) + span.first
                chosen[numbers[(numbers >= span.low) & (numbers < span.high)]] = True
        return chosen

    def entity_counts(self, at: Numbers) -> Iterator[Named]:
        """Names in these sentences by layer, of all types, and in how many sentences they are."""
        for span, _, inside in self._split("entities", at):
            yield Named(span.layer, *span.layer.counts(inside))

    def _split(self, part: str, at: Numbers) -> Iterator[tuple[Span, Numbers, Numbers]]:
        """By span: the places in `at` that it has the word on, and the numbers in its layer."""
        for span in self._spans[part]:
            places = np.flatnonzero((at >= span.low) & (at < span.high))
            if len(places):
                yield span, places, at[places] - span.first


def owners(runs: Sequence[Run], part: str, documents: int) -> Numbers:
    """Which run has the word on each document of a segment, for a part; -1 where none has."""
    owner = np.full(documents, -1)
    for number, run in enumerate(runs):
        if part in run.parts:
            owner[run.start : run.stop] = number
    return owner


def pieces(owner: Numbers) -> Iterator[tuple[int, int, int]]:
    """Runs of documents with one owner: start, stop, owner. Those without any are left out."""
    borders = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)]
    for start, stop in pairwise(borders):
        if stop > start and owner[start] >= 0:
            yield start, stop, int(owner[start])
