"""The layers of one segment: for each sentence and part, the last layer that covers it applies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.entities import EntitiesByType
from esr.engines.segments.store.layer import Layer
from esr.engines.segments.store.layer_info import LayerInfo, Numbers, resolve_owners, split_by_owner
from esr.plans.evidence import Array


class LayerSpan(NamedTuple):
    """Sentences `start` to `stop` (exclusive) of a segment, to which a layer applies."""

    start: int
    stop: int
    first: int
    """The number of the layer's first sentence in the segment."""
    layer: Layer


class EntityCounts(NamedTuple):
    """Entities by their numbers in a layer, and how many sentences have each."""

    layer: Layer
    numbers: Numbers
    counts: Numbers

    @property
    def hashes(self) -> npt.NDArray[np.uint64]:
        return np.asarray(self.layer.arrays["entity.hashes"][self.numbers])

    def of_type(self, type: int) -> EntityCounts:
        """Those of a type, given by its index in ENTITY_TYPES."""
        is_type = self.layer.arrays["entity.types"][self.numbers] == type
        return EntityCounts(self.layer, self.numbers[is_type], self.counts[is_type])


class LayerStack:
    """Finds the features, entities and parse of a sentence, by its number in the segment."""

    def __init__(self, layers: Sequence[tuple[LayerInfo, Layer]], first: Numbers, sentences: int) -> None:
        """`first` holds the first sentence of each document, and the end of the last."""
        self._sentences = sentences
        infos = [info for info, _ in layers]
        self._spans: dict[str, list[LayerSpan]] = {}
        for part in {part for info in infos for part in info.parts}:
            spans = self._spans[part] = []
            for start, stop, owner in split_by_owner(resolve_owners(infos, part, len(first) - 1)):
                info, layer = layers[owner]
                spans.append(LayerSpan(int(first[start]), int(first[stop]), int(first[info.start]), layer))
        self.features = sorted({name for span in self._of("features") for name in span.layer.features})

    def feature(self, name: str, sentences: Numbers) -> Array:
        """The values of a feature, NaN where unknown. Of the same shape as `sentences`."""
        values = np.full(len(sentences), np.nan)
        for span, places, in_layer in self._split("features", sentences):
            if name in span.layer.features:
                values[places] = span.layer.features[name][in_layer]
        return values

    def parses(self, sentences: Numbers) -> list[bytes | None]:
        """The stored parse of each sentence, None without one."""
        parses: list[bytes | None] = [None] * len(sentences)
        for span, places, in_layer in self._split("parse", sentences):
            for place, parse in zip(places.tolist(), span.layer.parses(in_layer), strict=True):
                parses[place] = parse
        return parses

    def entities(self, sentence: int) -> EntitiesByType | None:
        """The entities of a sentence, None before enrichment."""
        for span in self._of("entities"):
            if span.start <= sentence < span.stop:
                return span.layer.entities(sentence - span.first)
        return None

    def entity_mask(self, keys: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Which sentences have one of these entities, each given as `type:name`."""
        mask = np.zeros(self._sentences, bool)
        keys = list(keys)
        for span in self._of("entities"):
            for key in keys:
                sentences = span.layer.sentences_with_entity(key) + span.first
                mask[sentences[(sentences >= span.start) & (sentences < span.stop)]] = True
        return mask

    def entity_counts(self, sentences: Numbers) -> Iterator[EntityCounts]:
        """The entities of these sentences by layer, of all types, and how many of the sentences have each."""
        for span, _, in_layer in self._split("entities", sentences):
            yield EntityCounts(span.layer, *span.layer.count_entities(in_layer))

    def _of(self, part: str) -> Sequence[LayerSpan]:
        return self._spans.get(part, ())

    def _split(self, part: str, sentences: Numbers) -> Iterator[tuple[LayerSpan, Numbers, Numbers]]:
        """By span: the places in `sentences` that it covers, and their numbers in its layer."""
        for span in self._of(part):
            places = np.flatnonzero((sentences >= span.start) & (sentences < span.stop))
            if len(places):
                yield span, places, sentences[places] - span.first
