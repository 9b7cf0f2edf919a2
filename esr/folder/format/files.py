"""Files of arrays and bytes: written whole and synced, read through memory maps.

A bundle holds several arrays in one file. Checksums are computed while files are written. Disk errors become
errors of the index.
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
from contextvars import ContextVar
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from isal.isal_zlib import crc32

from esr.disk_errors import NO_SPACE
from esr.errors import EsrError, IndexUnusable
from esr.processes import run_together
from esr.stdlib import batched

Column = npt.NDArray[Any]
Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.integer[Any]]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

# The header that numpy writes for a plain array. numpy reads it with Python's own parser, which in Python
# 3.11 occasionally fails when several threads use it (python/cpython#106905), as a server's do.
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([^']+)', 'fortran_order': (?:True|False), 'shape': \(([0-9, ]*)\), \} *\n"
)


class FileCheck(NamedTuple):
    """Expected state of a file: size in bytes, CRC-32 of the content, modification time in nanoseconds."""

    size: int
    checksum: int
    modified: int


def check_file(path: str | Path) -> FileCheck:
    """Read a file, and compute its check. Raises OSError."""
    checksum = 0
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # `open` takes three times as long
    try:
        status = os.fstat(descriptor)
        while chunk := os.read(descriptor, _READ):
            checksum = crc32(chunk, checksum)
        return FileCheck(status.st_size, checksum, status.st_mtime_ns)
    finally:
        os.close(descriptor)


def copy_file(source: Path, target: Path) -> FileCheck:
    """Copy a file and its modification time, and sync it. Returns the check of the source. Raises OSError."""
    with source.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        with _create(target) as copy:
            while chunk := file.read(_READ):
                copy.write(chunk)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return FileCheck(status.st_size, copy.checksum, status.st_mtime_ns)


def link_file(source: Path, target: Path) -> bool:
    """Give a file a second name. Returns False where that is not possible: the caller copies it.

    A disk may have no links, or be another one, and a user may not link the files of another one. Raises
    FileNotFoundError.
    """
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    return True


_READ = 1 << 17


_checks: ContextVar[dict[str, FileCheck] | None] = ContextVar("checks", default=None)


@contextmanager
def record_files() -> Iterator[dict[str, FileCheck]]:
    """Collect the checks of the files that the block writes, by name. They must be in one folder."""
    checks: dict[str, FileCheck] = {}
    token = _checks.set(checks)
    try:
        yield checks
    finally:
        _checks.reset(token)


_unsynced: ContextVar[list[int] | None] = ContextVar("unsynced", default=None)
"""Descriptors of the files and folders that `sync_together` is to sync."""


@contextmanager
def sync_together() -> Iterator[None]:
    """Sync the files and folders that the block writes, when the block ends without an error.

    In nested blocks, they are synced when the outermost one ends. A sync mostly waits for the disk's journal,
    which commits many at once.
    """
    if _unsynced.get() is not None:
        yield
        return
    descriptors: list[int] = []
    token = _unsynced.set(descriptors)
    try:
        yield
        sync_written()
    finally:
        _unsynced.reset(token)
        for descriptor in descriptors:
            os.close(descriptor)


_SYNCS = 8
"""How many files are synced at once."""
_MAX_UNSYNCED = 256
"""How many files and folders are kept open until they are synced."""


def sync_written() -> None:
    """Sync what the block of `sync_together` has written so far. Other threads may go on writing."""
    unsynced = _unsynced.get()
    assert unsynced is not None

    def sync() -> None:
        while unsynced:
            with suppress(IndexError):  # another thread has taken the last one
                descriptor = unsynced.pop()
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    run_together(*[sync] * min(_SYNCS, len(unsynced) or 1))


def _sync(descriptor: int) -> None:
    """Sync a file or folder: at once, or at the end of the enclosing `sync_together` block."""
    unsynced = _unsynced.get()
    if unsynced is None:
        os.fsync(descriptor)
        return
    unsynced.append(os.dup(descriptor))
    if len(unsynced) > _MAX_UNSYNCED:
        sync_written()


class NewFile:
    """A file being written, with the checksum of its content so far."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.checksum: int = 0

    def write(self, data: bytes | memoryview) -> None:
        self.checksum = crc32(data, self.checksum)
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        while len(view):
            try:
                view = view[self._file.write(view) :]
            except OSError as error:
                error.filename = self._file.name
                raise


@contextmanager
def _create(path: Path) -> Iterator[NewFile]:
    """Create a file, and sync it at the end of the block or of the enclosing `sync_together` block."""
    with path.open("wb", buffering=0) as file:
        new = NewFile(file)
        yield new
        checks = _checks.get()
        if checks is not None:
            status = os.fstat(file.fileno())
            checks[path.name] = FileCheck(status.st_size, new.checksum, status.st_mtime_ns)
        _sync(file.fileno())


_CHUNKS = 4096
_LARGE = 1 << 14
"""Size in bytes from which a chunk is written by itself, which is faster than copying it."""


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    with _create(path) as file:
        # np.save bypasses the file object, and reports a full disk only as "1 of 9 written".
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)


def save_bytes(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    with _create(path) as file:
        for batch in batched(chunks, _CHUNKS):
            is_large = sum(map(len, batch)) > _LARGE * len(batch)
            for piece in batch if is_large else [b"".join(batch)]:
                file.write(piece)


def map_array(path: str | Path) -> npt.NDArray[Any]:
    """Map the array in a file written by `save_array`, in a fraction of the time of np.load.

    Raises ValueError if the file does not start with the header of `save_array`, or is shorter than its
    array.
    """
    content = _map(path)
    start = 10 + int.from_bytes(content[8:10], "little")
    match = _HEADER.fullmatch(content[10:start])
    if content[:8] != _MAGIC or not match:
        raise ValueError(f"{path} is damaged: it does not start with a numpy header")
    shape = tuple([int(length) for length in match[2].split(b",") if length.strip()])
    try:
        dtype = np.dtype(match[1].decode())
    except TypeError as error:
        raise ValueError(f"{path} is damaged: numpy has no type {match[1]!r}") from error
    array = np.frombuffer(content, dtype, math.prod(shape), start)
    return array if len(shape) == 1 else array.reshape(shape)


def map_bytes(path: str | Path) -> memoryview:
    """Map the bytes of a file."""
    return memoryview(_map(path) if os.path.getsize(path) else b"")  # an empty file cannot be mapped


def _map(path: str | Path) -> mmap.mmap:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # `open` takes three times as long
        try:
            return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
    except OSError as error:
        refuse_unopened(path, error)
        raise


_UNOPENED = {
    errno.EMFILE: "this process may have no more files open; raise the limit, as by ulimit -n 65536",
    errno.ENFILE: "this machine may have no more files open; raise the limit, as by sysctl fs.file-max",
    errno.EACCES: "this user may not read it; change its owner or its mode",
    errno.EPERM: "this user may not read it; change its owner or its mode",
}


class Unopened(IndexUnusable):
    """A file may not be opened, such as for want of permission. It need not be damaged."""


def refuse_unopened(path: str | Path, error: Exception) -> None:
    """Raise Unopened for an error of opening that is not the disk's."""
    if isinstance(error, OSError) and error.errno in _UNOPENED:
        raise Unopened(f"cannot open {path}: {_UNOPENED[error.errno]}") from error


def narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert non-negative integers to the smallest type that holds them. Widen it before summing."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))), copy=False)


def order_of_first(numbers: Integers, count: int) -> Numbers:
    """The distinct values of `numbers`, all below `count`, in order of first occurrence."""
    first = np.full(count, len(numbers))
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of equal numbers, the last assignment wins
    return np.argsort(first)[: np.count_nonzero(first < len(numbers))]


_SEAL = re.compile(rb'\{\n "checksum": "([0-9a-f]{8})",\n')
_SEALED = "sealed"
"""The last key of a sealed file. It distinguishes a damaged first line from a file of an older version."""


def encode_sealed(content: Mapping[str, Any]) -> bytes:
    """Encode a JSON object, with a first line that holds the checksum of all other lines."""
    body = json.dumps({**content, _SEALED: True}, indent=1).encode()[len("{\n") :]
    return b'{\n "checksum": "%08x",\n%s' % (crc32(body), body)


def decode_sealed(data: bytes) -> dict[str, Any]:
    """Decode a JSON object, also one that older versions wrote without a checksum.

    Raises ValueError if it is damaged.
    """
    seal = _SEAL.match(data)
    content = json.loads(data)
    if not isinstance(content, dict):
        raise ValueError("it holds no JSON object")
    is_damaged = crc32(data[seal.end() :]) != int(seal[1], 16) if seal else _SEALED in content
    if is_damaged:
        raise ValueError("its checksum does not match")
    return {key: value for key, value in content.items() if key not in ("checksum", _SEALED)}


def replace_json(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a sealed JSON file atomically and durably: readers see either the old content or the new.

    Files written earlier in an enclosing `sync_together` block are synced before it. So are the entries
    beside it, to which its content may refer: a crash can lose them and leave what is renamed after them.
    """
    temporary = path.with_name(f"{path.name}.new")
    with sync_together():
        with _create(temporary) as file:
            file.write(encode_sealed(content))
        sync_folder(path.parent)
        sync_written()
        os.replace(temporary, path)
        sync_folder(path.parent)
        sync_written()


def create_folder(folder: Path) -> None:
    """Create a folder, with its parents, and make its entry durable, also if a killed process created it."""
    missing = [path for path in folder.parents if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder, *missing):
        with suppress(PermissionError):  # a parent that may not be read existed before
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the directory entries of a folder durable, which syncing a file does not."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


_ALIGNMENT = 64
_HEADER_BYTES = 16
"""Size of the header: the lengths of the table of contents and of the file, 8 bytes each."""
Arrays = dict[str, npt.NDArray[Any]]


def save_bundle(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write one-dimensional arrays by name, then a checksum of everything before it.

    The file is written from front to back, so an incomplete one is too short.
    """
    contents, offset = [], 0
    for name, array in arrays.items():
        contents.append((name, array.dtype.str, len(array), offset))
        offset = _align(offset + array.nbytes)
    contents.append((_CHECKSUM, "<u4", _COPIES, offset))
    table = json.dumps(contents).encode()
    first = _align(_HEADER_BYTES + len(table))
    size = first + offset + _ALIGNMENT
    with _create(path) as file:
        file.write(len(table).to_bytes(8, "little") + size.to_bytes(8, "little") + table)
        file.write(bytes(first - _HEADER_BYTES - len(table)))
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).data)
            file.write(bytes(_align(array.nbytes) - array.nbytes))
        file.write(_trailer(file.checksum))


_CHECKSUM = "checksum"
"""The last array of a bundle: copies of one checksum, up to the end of the file."""
_COPIES = _ALIGNMENT // 4


def _trailer(checksum: int) -> bytes:
    return checksum.to_bytes(4, "little") * _COPIES


def recorded_check(path: Path) -> FileCheck | None:
    """The check of a bundle, from the checksum at its end. None if an older version wrote it."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        file.seek(max(status.st_size - _ALIGNMENT, 0))
        trailer = file.read()
    checksum = int.from_bytes(trailer[:4], "little")
    if trailer != _trailer(checksum):
        return None
    return FileCheck(status.st_size, crc32(trailer, checksum), status.st_mtime_ns)


def map_bundle(path: Path) -> Arrays:
    """Map the arrays of a bundle by name. Raises ValueError if the file is truncated or damaged."""
    content = map_bytes(path)
    length, size = (int.from_bytes(content[start : start + 8], "little") for start in (0, 8))
    if len(content) < _HEADER_BYTES or size != len(content):
        raise ValueError(f"{path} is truncated")
    first = _align(_HEADER_BYTES + length)
    try:
        return {
            name: np.frombuffer(content, np.dtype(dtype), count, first + offset)
            for name, dtype, count, offset in json.loads(
                bytes(content[_HEADER_BYTES : _HEADER_BYTES + length])
            )
            if name != _CHECKSUM
        }
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: its table of contents says {error}") from error


def _align(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


@contextmanager
def translate_disk_errors(folder: Path, command: str = "load", state: str = "is unchanged") -> Iterator[None]:
    """Turn an OSError into EsrError if the disk is full, otherwise into IndexUnusable.

    `command` is the user's command, for the advice to repeat it. `state`: that of the folder after a failure.
    """
    try:
        yield
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise EsrError(
                f"cannot write {error.filename or folder}, which is larger than this process may write, "
                f"{folder} {state}: raise the limit (ulimit -f) and {command} again"
            ) from error
        if error.errno in NO_SPACE:
            raise EsrError(
                f"the disk is full, {folder} {state}: free some space and {command} again"
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
