"""Many strings or blobs in two memory-mapped files: their bytes, concatenated, and the offset of each end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.segments.store.arrays import map_array, map_bytes, narrow, save_array, save_bytes
from esr.engines.segments.store.sorted_strings import prefix_range
from esr.hashing import hash64

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.integer[Any]]


def hash_strings(strings: Iterable[str]) -> Hashes:
    return np.fromiter((hash64(s) for s in strings), np.uint64)


class BlobTable:
    """BlobTable by number."""

    def __init__(self, folder: Path, name: str) -> None:
        """Raises ValueError or FileNotFoundError for incomplete files."""
        self._bytes = map_bytes(folder / f"{name}.bytes")
        self._ends = map_array(folder / f"{name}.ends.npy")
        if len(self._ends) == 0 or len(self._bytes) != self._ends[-1]:
            raise ValueError(f"{folder / name}.bytes is truncated")
        # A single number of a view takes a third of the time of one of an array.
        self._end_view = memoryview(self._ends)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._bytes[self._end_view[number] : self._end_view[number + 1]])

    def view(self, number: int) -> memoryview:
        """A blob where it is mapped."""
        return self._bytes[self._end_view[number] : self._end_view[number + 1]]

    def get_many(self, numbers: Numbers) -> list[memoryview]:
        """The blobs of these numbers, where they are mapped."""
        ends, content = self._ends, self._bytes
        ranges = zip(ends[numbers].tolist(), ends[1:][numbers].tolist(), strict=True)
        return [content[start:stop] for start, stop in ranges]

    def decode_many(self, numbers: Numbers) -> list[str]:
        """The blobs of these numbers as strings."""
        return [str(blob, "utf-8") for blob in self.get_many(numbers)]

    @staticmethod
    def save(folder: Path, name: str, blobs: Sequence[bytes]) -> None:
        ends = np.zeros(len(blobs) + 1, np.int64)
        np.cumsum([len(blob) for blob in blobs], out=ends[1:])
        save_bytes(folder / f"{name}.bytes", blobs)
        save_array(folder / f"{name}.ends.npy", narrow(ends))


class StringTable:
    """Distinct strings by number, and numbers by string through sorted hashes."""

    def __init__(self, folder: Path, name: str) -> None:
        """Raises ValueError or FileNotFoundError for incomplete files."""
        self._blobs = BlobTable(folder, name)
        self.hashes: Hashes = map_array(folder / f"{name}.hashes.npy")
        self._hash_view = memoryview(self.hashes)  # type: ignore[arg-type]
        self.numbers = map_array(folder / f"{name}.numbers.npy")
        self._number_view = memoryview(self.numbers)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._blobs)

    def __getitem__(self, number: int) -> str:
        return self._blobs[number].decode()

    def get_many(self, numbers: Numbers) -> list[str]:
        """The strings of these numbers."""
        return self._blobs.decode_many(numbers)

    def find(self, string: str, hash: int | None = None) -> int | None:
        """The number of a string, or None. `hash` is that of the string, if it is at hand."""
        if not len(self.hashes):
            return None
        # Of one number, bisect takes a fourth of the time of numpy's search.
        hashes, target = self._hash_view, hash64(string) if hash is None else hash
        index = bisect_left(hashes, target)
        while index < len(hashes) and hashes[index] == target:
            number = self._number_view[index]
            if self[number] == string:  # two strings may share a hash
                return number
            index += 1
        return None

    def with_prefix(self, prefix: str, limit: int) -> list[str]:
        """The first `limit` strings with this prefix, in code point order."""
        order = self._sorted_numbers
        found = prefix_range(len(order), lambda place: self._blobs[order[place]], prefix)
        return self.get_many(order[found.start : found.stop][:limit])

    @cached_property
    def _sorted_numbers(self) -> npt.NDArray[np.int32]:
        """The numbers in the order of their strings, computed by the first search that needs them: few do."""
        return np.array(sorted(range(len(self)), key=self._blobs.__getitem__), np.int32)

    def contains_hashes(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """Which of these hashes the table has. A hash that it has may still be that of another string."""
        if not len(self.hashes):
            return np.zeros(len(hashes), bool)
        indices = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.asarray(self.hashes[indices] == hashes)

    @staticmethod
    def save(folder: Path, name: str, strings: Sequence[str], hashes: Hashes | None = None) -> None:
        """Write the table. `hashes` are those of the strings, if they are at hand."""
        if hashes is None:
            hashes = hash_strings(strings)
        order = np.argsort(hashes, kind="stable")
        BlobTable.save(folder, name, [s.encode() for s in strings])
        save_array(folder / f"{name}.hashes.npy", hashes[order])
        save_array(folder / f"{name}.numbers.npy", narrow(order))
