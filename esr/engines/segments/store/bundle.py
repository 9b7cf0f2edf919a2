"""Several arrays in one file: written whole and synced, read through one memory map."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.segments.store.arrays import map_bytes

_ALIGNMENT = 64
_HEADER_BYTES = 16
"""Before the table of contents: the length of the table and of the file, 8 bytes each."""
Arrays = dict[str, npt.NDArray[Any]]


def save_bundle(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write one-dimensional arrays by name. It only appends, so an incomplete file is too short."""
    contents, offset = [], 0
    for name, array in arrays.items():
        contents.append((name, array.dtype.str, len(array), offset))
        offset = _align(offset + array.nbytes)
    table = json.dumps(contents).encode()
    first = _align(_HEADER_BYTES + len(table))
    with path.open("wb") as file:
        file.write(len(table).to_bytes(8, "little") + (first + offset).to_bytes(8, "little") + table)
        file.write(bytes(first - _HEADER_BYTES - len(table)))
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).data)
            file.write(bytes(_align(array.nbytes) - array.nbytes))
        file.flush()
        os.fsync(file.fileno())


def map_bundle(path: Path) -> Arrays:
    """The arrays by name, read from disk as they are used. Raises ValueError if the file is truncated."""
    content = map_bytes(path)
    length, size = (int.from_bytes(content[start : start + 8], "little") for start in (0, 8))
    if len(content) < _HEADER_BYTES or size != len(content):
        raise ValueError(f"{path} is truncated")
    first = _align(_HEADER_BYTES + length)
    return {
        name: np.frombuffer(content, np.dtype(dtype), count, first + offset)
        for name, dtype, count, offset in json.loads(bytes(content[_HEADER_BYTES : _HEADER_BYTES + length]))
    }


def _align(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
