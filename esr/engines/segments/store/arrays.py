"""Arrays on disk: written whole and synced, read through a memory map."""

from __future__ import annotations

import json
import math
import mmap
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

# What numpy writes before a plain array. numpy reads it with Python's own parser, which in Python 3.11
# fails now and then when several threads use it (python/cpython#106905), as those of a server do.
_HEADER = re.compile(
    rb"\{'descr': '([^']+)', 'fortran_order': (?:True|False), 'shape': \(([0-9, ]*)\), \} *\n"
)


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    with path.open("wb") as file:
        # np.save bypasses the file object, and reports a full disk only as "1 of 9 written".
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)
        file.flush()
        os.fsync(file.fileno())


def save_bytes(path: Path, chunks: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(chunks)
        file.flush()
        os.fsync(file.fileno())


def map_array(path: Path) -> npt.NDArray[Any]:
    """A plain array over the mapped file that save_array wrote, opened in a fraction of the time of np.load.

    Errors: ValueError if the file does not begin as save_array writes it, or is shorter than its array.
    """
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        header = file.read(int.from_bytes(file.read(2), "little"))
        match = _HEADER.fullmatch(header)
        if not match:
            raise ValueError(f"{path} is damaged: it does not begin as an array of numpy")
        shape = tuple(int(length) for length in match[2].split(b",") if length.strip())
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        dtype = np.dtype(match[1].decode())
        return np.frombuffer(content, dtype, math.prod(shape), file.tell()).reshape(shape)


def map_bytes(path: Path) -> memoryview:
    if not path.stat().st_size:
        return memoryview(b"")  # an empty file cannot be mapped
    return memoryview(np.memmap(path, np.uint8, "r"))  # type: ignore[arg-type]


def narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same non-negative integers in the smallest type that holds them.

    Sums of the values may overflow that type: widen it first.
    """
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def replace_json(path: Path, content: Any) -> None:
    """Replace a JSON file atomically and durably: readers see the old content or the new."""
    temporary = path.with_name(f"{path.name}.new")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the directory entries of a folder durable; syncing a file does not."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
