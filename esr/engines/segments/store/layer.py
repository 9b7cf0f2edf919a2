"""A layer, opened for reading: the enrichment of consecutive documents of one segment, in one file.

A layer never changes. For each of its sentences it may hold, by part:
*features*   one column per feature, in the smallest float that holds all its values; NaN where unknown
*entities*   the numbers of its entities, for each entity the sentences that have it, and the keys of names
*parse*      a blob
*vectors*    as many 8-bit numbers as an encoder has dimensions, and a scale
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.documents.vector import QuantizedVector
from esr.engines.entities import EntitiesByType, group_entities, parse_entity_key
from esr.engines.segments.store.bundle import Arrays, map_bundle
from esr.engines.segments.store.layer_info import Numbers
from esr.engines.segments.store.layer_names import LayerNames, encode_names, has_names

FEATURE = "feature."


class Layer:
    """Sentences are numbered from 0 within the layer."""

    def __init__(self, path: Path) -> None:
        """Raises ValueError or FileNotFoundError for an incomplete file."""
        self.size_bytes = path.stat().st_size
        self.arrays = map_bundle(path)
        self.features = {
            name.removeprefix(FEATURE): column
            for name, column in self.arrays.items()
            if name.startswith(FEATURE)
        }

    def parses(self, sentences: Numbers) -> list[bytes | None]:
        has_parse, ends = self.arrays["parse.known"][sentences], self.arrays["parse.ends"]
        content = self.arrays["parse.bytes"].data
        starts, stops = ends[sentences].tolist(), ends[sentences + 1].tolist()
        return [
            bytes(content[start:stop]) if known else None
            for known, start, stop in zip(has_parse.tolist(), starts, stops, strict=True)
        ]

    @property
    def dimensions(self) -> int:
        """How many numbers each vector has."""
        return len(self.arrays["vector.values"]) // max(len(self.arrays["vector.known"]), 1)

    @cached_property
    def vectors(self) -> npt.NDArray[np.int8]:
        """The vectors' numbers, of shape (sentences, dimensions): zeros where there is none."""
        return self.arrays["vector.values"].reshape(len(self.arrays["vector.known"]), self.dimensions)

    @cached_property
    def vector_scales(self) -> npt.NDArray[np.float64]:
        """What the numbers of each vector are multiplied with: NaN where there is none."""
        return np.where(self.arrays["vector.known"], self.arrays["vector.scales"].astype(float), np.nan)

    def stored_vectors(self, sentences: Numbers) -> list[QuantizedVector | None]:
        return [
            None if np.isnan(scale) else QuantizedVector(values.tobytes(), scale)
            for values, scale in zip(
                self.vectors[sentences], self.vector_scales[sentences].tolist(), strict=True
            )
        ]

    def entities(self, sentence: int) -> EntitiesByType | None:
        if not self.arrays["entity.known"][sentence]:
            return None
        first = self.arrays["entity.first"]
        numbers = self.arrays["entity.of"][first[sentence] : first[sentence + 1]].tolist()
        return group_entities(parse_entity_key(self.entity_key(number)) for number in numbers)

    @property
    def entity_count(self) -> int:
        """How many distinct entities the layer has."""
        return len(self.arrays["entity.types"])

    def entity_key(self, number: int) -> str:
        """An entity as `type:name`, by its number."""
        ends = self.arrays["entity.name_ends"]
        return self.arrays["entity.names"][ends[number] : ends[number + 1]].tobytes().decode()

    @property
    def needs_names(self) -> bool:
        """Whether it has entities without the keys of their names: an older version wrote it."""
        return "entity.types" in self.arrays and not has_names(self.arrays)

    @cached_property
    def names(self) -> LayerNames:
        """The keys of its names. They are computed when they are first needed, if they are not stored."""
        return LayerNames(self._encode_names() if self.needs_names else self.arrays)

    def arrays_with_names(self) -> Arrays:
        """What a layer with the same content has that stores the keys of its names."""
        return self.arrays | self._encode_names()

    def _encode_names(self) -> Arrays:
        return encode_names(map(self.entity_key, range(self.entity_count)))

    def sentences_of(self, entity: int) -> npt.NDArray[Any]:
        """The sentences with an entity, by its number, ascending."""
        starts = self.arrays["entity.starts"]
        return self.arrays["entity.sentences"][starts[entity] : starts[entity + 1]]

    def sentences_with_name(self, key: str) -> npt.NDArray[Any]:
        """The sentences with any form of a name, under any type; some more than once."""
        entities = self.names.entities(key).tolist()
        return np.concatenate([np.zeros(0, np.int32), *map(self.sentences_of, entities)])
