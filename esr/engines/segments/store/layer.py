"""A layer, opened for reading: the enrichment of consecutive documents of one segment, in one file.

A layer never changes. For each of its sentences it may hold, by part:
*features*   one column per feature, in the smallest float that holds all its values; NaN where unknown
*entities*   the numbers of its entities, and for each entity the sentences that have it
*parse*      a blob
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.entities import EntitiesByType, group_entities, parse_entity_key
from esr.engines.segments.store.bundle import map_bundle
from esr.engines.segments.store.layer_info import Numbers
from esr.hashing import hash64

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

    def sentences_with_entity(self, key: str) -> npt.NDArray[Any]:
        """The sentences with the entity `type:name`, ascending."""
        hashes, target = self.arrays["entity.hashes"], np.uint64(hash64(key))
        number = int(np.searchsorted(hashes, target))
        while number < len(hashes) and hashes[number] == target:
            if self.entity_key(number) == key:  # two names may share a hash
                starts = self.arrays["entity.starts"]
                return self.arrays["entity.sentences"][starts[number] : starts[number + 1]]
            number += 1
        return np.zeros(0, np.int32)

    def count_entities(self, sentences: Numbers) -> tuple[Numbers, Numbers]:
        """The numbers of the entities in these sentences, and how many of the sentences have each."""
        first = self.arrays["entity.first"].astype(np.int64)
        sizes = first[sentences + 1] - first[sentences]
        before = np.cumsum(sizes) - sizes
        places = np.repeat(first[sentences] - before, sizes) + np.arange(int(sizes.sum()))
        counts = np.bincount(self.arrays["entity.of"][places])
        numbers = np.flatnonzero(counts)
        return numbers, counts[numbers]
