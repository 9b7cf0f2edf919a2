"""The keys of the names in a layer, by which written forms of one name are found.

`name.of` has the number of each entity's key, `name.keys` the keys in code point order, `name.ends` where
each ends, and `name.hashes` their hashes, by which the keys of several layers are matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.entities import parse_entity_key
from esr.engines.keys import KEY_VERSION, name_key
from esr.engines.segments.store.bundle import Arrays
from esr.engines.segments.store.sorted_strings import find_string, prefix_range
from esr.engines.segments.store.string_table import hash_strings

_VERSION = "name.version"


def encode_names(entity_keys: Iterable[str]) -> Arrays:
    """The arrays for entities `type:name`, given in the order of their numbers."""
    keys = [name_key(parse_entity_key(key).text) for key in entity_keys]
    distinct = sorted(set(keys))  # in the order of their UTF-8 too
    numbers = {key: number for number, key in enumerate(distinct)}
    encoded = [key.encode() for key in distinct]
    return {
        _VERSION: np.array([KEY_VERSION], np.int32),
        "name.of": np.array([numbers[key] for key in keys], np.int32),
        "name.hashes": hash_strings(distinct),
        "name.ends": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        "name.keys": np.frombuffer(b"".join(encoded), np.uint8),
    }


def has_names(arrays: Mapping[str, npt.NDArray[Any]]) -> bool:
    """Whether a layer stores the keys of its names as this version of esr computes them."""
    return _VERSION in arrays and arrays[_VERSION].tolist() == [KEY_VERSION]


class LayerNames:
    """The keys of a layer's names, numbered in code point order."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.of_entity = arrays["name.of"]
        self.hashes = arrays["name.hashes"]
        self._ends, self._bytes = arrays["name.ends"], arrays["name.keys"]

    def __len__(self) -> int:
        return len(self.hashes)

    def key(self, number: int) -> str:
        return self._encoded(number).decode()

    def entities(self, key: str) -> npt.NDArray[Any]:
        """The numbers of the entities with this key."""
        number = find_string(len(self), self._encoded, key)
        return np.zeros(0, np.int64) if number is None else np.flatnonzero(self.of_entity == number)

    def with_prefix(self, prefix: str) -> range:
        """The numbers of the keys with this prefix."""
        return prefix_range(len(self), self._encoded, prefix)

    def _encoded(self, number: int) -> bytes:
        return self._bytes[self._ends[number] : self._ends[number + 1]].tobytes()
