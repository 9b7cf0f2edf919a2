"""Many strings, or blobs, in two memory-mapped files: their bytes end to end, and where each ends."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.segments.store.arrays import map_array, map_bytes, save_array, save_bytes, smallest
from esr.hashing import hash64

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.integer[Any]]


def hashes(strings: Iterable[str]) -> Hashes:
    return np.fromiter((hash64(s) for s in strings), np.uint64)


class Blobs:
    """Blobs by number."""

    def __init__(self, folder: Path, name: str) -> None:
        self._bytes = map_bytes(folder / f"{name}.bytes")
        self._ends = map_array(folder / f"{name}.ends.npy")
        if len(self._ends) == 0 or len(self._bytes) != self._ends[-1]:
            raise ValueError(f"{folder / name}.bytes is cut off")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._bytes[self._ends[number] : self._ends[number + 1]])

    def strings(self, numbers: Numbers) -> list[str]:
        """The blobs of these numbers, decoded."""
        ends, content = self._ends, self._bytes
        borders = zip(ends[numbers].tolist(), ends[1:][numbers].tolist(), strict=True)
        return [str(content[begin:end], "utf-8") for begin, end in borders]

    @staticmethod
    def save(folder: Path, name: str, blobs: Sequence[bytes]) -> None:
        ends = np.zeros(len(blobs) + 1, np.int64)
        np.cumsum([len(blob) for blob in blobs], out=ends[1:])
        save_bytes(folder / f"{name}.bytes", blobs)
        save_array(folder / f"{name}.ends.npy", smallest(ends))


class Names:
    """Distinct strings by number, and numbers by string through sorted hashes."""

    def __init__(self, folder: Path, name: str) -> None:
        self._blobs = Blobs(folder, name)
        self.hashes: Hashes = map_array(folder / f"{name}.hashes.npy")
        self.numbers = map_array(folder / f"{name}.numbers.npy")

    def __len__(self) -> int:
        return len(self._blobs)

    def __getitem__(self, number: int) -> str:
        return self._blobs[number].decode()

    def several(self, numbers: Numbers) -> list[str]:
        """The strings of these numbers."""
        return self._blobs.strings(numbers)

    def find(self, string: str) -> int | None:
        """The number of a string, or None."""
        if not len(self.hashes):
            return None
        wanted = np.uint64(hash64(string))
        place = int(np.searchsorted(self.hashes, wanted))
        while place < len(self.hashes) and self.hashes[place] == wanted:
            number = int(self.numbers[place])
            if self[number] == string:  # two strings may share a hash
                return number
            place += 1
        return None

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """The first `limit` strings, in the order of their letters' codes, that begin so."""
        start = prefix.encode()  # UTF-8 keeps the order of the codes
        order = self._alphabetical
        place = bisect_left(order, start, key=lambda number: self._blobs[number])
        found = []
        for number in order[place : place + limit].tolist():
            if not self._blobs[number].startswith(start):
                break
            found.append(self[number])
        return found

    @cached_property
    def _alphabetical(self) -> npt.NDArray[np.int32]:
        """The numbers in the order of their strings. Only few searches need it: it is made by the first."""
        return np.array(sorted(range(len(self)), key=self._blobs.__getitem__), np.int32)

    def shared(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """Which of these hashes are here. A hash that is here may still be another string's."""
        if not len(self.hashes):
            return np.zeros(len(hashes), bool)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.asarray(self.hashes[places] == hashes)

    @staticmethod
    def save(folder: Path, name: str, strings: Sequence[str], known: Hashes | None = None) -> None:
        codes = hashes(strings) if known is None else known
        order = np.argsort(codes, kind="stable")
        Blobs.save(folder, name, [s.encode() for s in strings])
        save_array(folder / f"{name}.hashes.npy", codes[order])
        save_array(folder / f"{name}.numbers.npy", smallest(order))
