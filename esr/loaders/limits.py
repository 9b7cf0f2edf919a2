"""Limits on decompression: a few KB can expand to petabytes (a "zip bomb")."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple, cast

from esr.errors import InputError

# Below this size no ratio is suspicious: a short file of blanks compresses to almost nothing.
FREE_BYTES = 64 * 2**20
_BUFFER_BYTES = 2**18


class Limits(NamedTuple):
    """`expansion`: the maximum ratio of unpacked to packed size. `unpacked`: the maximum unpacked bytes.

    News compresses to between a third and a tenth; 200 leaves room for very repetitive markup.
    """

    expansion: int = 200
    unpacked: int = 256 * 2**30


DEFAULT_LIMITS = Limits()


class ExpansionError(InputError):
    """A packed file expands beyond the limits; the rest of it is not read."""


class Budget:
    """Counts the packed and unpacked bytes of one file, including all archives inside it."""

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self.packed = 0
        self.unpacked = 0

    def spend(self, unpacked: int) -> None:
        """Count unpacked bytes. Raises ExpansionError."""
        self.unpacked += unpacked
        if self.unpacked > self._limits.unpacked:
            raise ExpansionError(
                self._name,
                f"unpacks to more than {self._limits.unpacked / 2**30:g} GiB: "
                "if that is right, raise the limit with --max-unpacked",
            )
        if self.unpacked > max(FREE_BYTES, self._limits.expansion * self.packed):
            raise ExpansionError(
                self._name,
                f"unpacks to more than {self._limits.expansion} times its size, like a zip bomb: "
                "if that is right, raise the limit with --max-expansion",
            )

    def count_packed(self, stream: BinaryIO) -> BinaryIO:
        """The stream, with its bytes counted as packed ones."""
        return _wrap(stream, self._add_packed)

    def limit_unpacked(self, stream: BinaryIO) -> BinaryIO:
        """The stream, with its bytes counted as unpacked ones. Reading raises ExpansionError."""
        return _wrap(stream, self.spend)

    def _add_packed(self, packed: int) -> None:
        self.packed += packed


def _wrap(stream: BinaryIO, count: Callable[[int], None]) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_CountingStream(stream, count), _BUFFER_BYTES))


class _CountingStream(io.RawIOBase):
    def __init__(self, stream: BinaryIO, count: Callable[[int], None]) -> None:
        self._stream = stream
        self._count = count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._count(len(data))
        buffer[: len(data)] = data
        return len(data)
