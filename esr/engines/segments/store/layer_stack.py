"""The layers of one segment: for each sentence and part, the last layer that covers it applies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.documents.enrichment import VECTORS
from esr.documents.vector import QuantizedVector
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
    recipe: str | None
    """The digest of what made it."""


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
                begin, end = int(first[start]), int(first[stop])
                spans.append(LayerSpan(begin, end, int(first[info.start]), layer, info.recipe))
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

    @property
    def has_parses(self) -> bool:
        """Whether any sentence has a stored parse."""
        return any(
            span.layer.arrays["parse.known"][span.start - span.first : span.stop - span.first].any()
            for span in self._of("parse")
        )

    def vectors(self, sentences: Numbers) -> list[QuantizedVector | None]:
        """The stored vector of each sentence, None without one."""
        vectors: list[QuantizedVector | None] = [None] * len(sentences)
        for span, places, in_layer in self._split(VECTORS, sentences):
            stored = span.layer.stored_vectors(in_layer)
            for place, vector in zip(places.tolist(), stored, strict=True):
                vectors[place] = vector
        return vectors

    @property
    def vector_spans(self) -> Sequence[LayerSpan]:
        """The sentences that were encoded, by layer, in the order of the segment."""
        return self._of(VECTORS)

    def entities(self, sentence: int) -> EntitiesByType | None:
        """The entities of a sentence, None before enrichment."""
        for span in self.entity_spans:
            if span.start <= sentence < span.stop:
                return span.layer.entities(sentence - span.first)
        return None

    def name_mask(self, keys: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Which sentences have a name with one of these keys, in any form and under any type."""
        mask = np.zeros(self._sentences, bool)
        keys = list(keys)
        for span in self.entity_spans:
            for key in keys:
                sentences = span.layer.sentences_with_name(key) + span.first
                mask[sentences[(sentences >= span.start) & (sentences < span.stop)]] = True
        return mask

    @property
    def entity_spans(self) -> Sequence[LayerSpan]:
        """The sentences that were searched for entities, by layer, in the order of the segment."""
        return self._of("entities")

    def _of(self, part: str) -> Sequence[LayerSpan]:
        return self._spans.get(part, ())

    def _split(self, part: str, sentences: Numbers) -> Iterator[tuple[LayerSpan, Numbers, Numbers]]:
        """By span: the places in `sentences` that it covers, and their numbers in its layer."""
        for span in self._of(part):
            places = np.flatnonzero((sentences >= span.start) & (sentences < span.stop))
            if len(places):
                yield span, places, sentences[places] - span.first
