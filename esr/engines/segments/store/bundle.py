"""Several arrays in one file: written whole and synced, read by one memory map."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.segments.store.arrays import map_bytes

_ALIGNED = 64
_HEAD = 16
"""Bytes before the table of contents: the table's length and the file's, 8 bytes each."""
Arrays = dict[str, npt.NDArray[Any]]


def save_bundle(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write one-dimensional arrays under their names. Writing at most appends, so a cut file is short."""
    places, at = [], 0
    for name, array in arrays.items():
        places.append((name, array.dtype.str, len(array), at))
        at = _aligned(at + array.nbytes)
    table = json.dumps(places).encode()
    first = _aligned(_HEAD + len(table))
    with path.open("wb") as file:
        file.write(len(table).to_bytes(8, "little") + (first + at).to_bytes(8, "little") + table)
        file.write(bytes(first - _HEAD - len(table)))
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).data)
            file.write(bytes(_aligned(array.nbytes) - array.nbytes))
        file.flush()
        os.fsync(file.fileno())


def map_bundle(path: Path) -> Arrays:
    """The arrays by name, read from disk as they are used. Raises ValueError if the file is cut off."""
    content = map_bytes(path)
    length, size = (int.from_bytes(content[at : at + 8], "little") for at in (0, 8))
    if len(content) < _HEAD or size != len(content):
        raise ValueError(f"{path} is cut off")
    first = _aligned(_HEAD + length)
    return {
        name: np.frombuffer(content, np.dtype(kind), count, first + at)
        for name, kind, count, at in json.loads(bytes(content[_HEAD : _HEAD + length]))
    }


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
