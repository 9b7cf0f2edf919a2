"""Files of arrays and bytes: written whole and synced, read through memory maps.

A bundle holds several arrays in one file. Disk errors are translated to what they mean for an index.
"""

from __future__ import annotations

import errno
import json
import math
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.errors import EsrError, IndexUnusable

Column = npt.NDArray[Any]
Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.integer[Any]]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

# The header that numpy writes for a plain array. numpy reads it with Python's own parser, which in Python
# 3.11 occasionally fails when several threads use it (python/cpython#106905), as a server's do.
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
    """Map the array in a file written by `save_array`, in a fraction of the time of np.load.

    Raises ValueError if the file does not start with the header of `save_array`, or is shorter than its
    array.
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
    """Convert non-negative integers to the smallest type that holds them. Widen it before summing."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def replace_json(path: Path, content: Any) -> None:
    """Replace a JSON file atomically and durably: readers see either the old content or the new."""
    temporary = path.with_name(f"{path.name}.new")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the directory entries of a folder durable, which syncing a file does not."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_ALIGNMENT = 64
_HEADER_BYTES = 16
"""Size of the header: the lengths of the table of contents and of the file, 8 bytes each."""
Arrays = dict[str, npt.NDArray[Any]]


def save_bundle(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write one-dimensional arrays by name.

    The file is written from front to back, so an incomplete one is too short.
    """
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
    """Map the arrays of a bundle by name. Raises ValueError if the file is truncated."""
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


NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def translate_disk_errors(folder: Path, command: str = "load") -> Iterator[None]:
    """Turn an OSError into EsrError if the disk is full, otherwise into IndexUnusable.

    `command` is the user's command, for the advice to repeat it.
    """
    try:
        yield
    except OSError as error:
        if error.errno in NO_SPACE:
            raise EsrError(
                f"the disk is full, {folder} is unchanged: free some space and {command} again"
            ) from error
        raise IndexUnusable(f"cannot write to {folder}: {error.strerror or error}") from error


def size_on_disk(path: Path) -> int:
    """Size in bytes of a file or of the files in a folder.

    Files that a writer deletes meanwhile count as 0.
    """
    size = 0
    with suppress(FileNotFoundError):
        for file in path.iterdir() if path.is_dir() else [path]:
            with suppress(FileNotFoundError):
                size += file.stat().st_size
    return size
