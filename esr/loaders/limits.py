"""How far packed files may expand: a few KB can unpack to petabytes (a "zip bomb")."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, NamedTuple, cast

from esr.errors import InputError

# Below this no ratio is suspicious: a short file of blanks packs to almost nothing.
FREE_BYTES = 64 * 2**20
_BUFFER_BYTES = 2**18


class Limits(NamedTuple):
    """`expansion`: how many times its packed size a file may unpack to. `unpacked`: bytes it may unpack to.

    News packs to a third or a tenth; 200 leaves room for very repetitive markup.
    """

    expansion: int = 200
    unpacked: int = 256 * 2**30


DEFAULT_LIMITS = Limits()


class Expanded(InputError):
    """A packed file expands beyond the limits: nothing more of it is read."""


class Budget:
    """Counts what goes in and comes out of one packed file, with all archives in it."""

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self.packed = 0
        self.unpacked = 0

    def spend(self, unpacked: int) -> None:
        """Count bytes that came out. Raises Expanded."""
        self.unpacked += unpacked
        if self.unpacked > self._limits.unpacked:
            raise Expanded(
                self._name,
                f"unpacks to more than {self._limits.unpacked / 2**30:g} GiB: "
                "if that is right, allow more with --max-unpacked",
            )
        if self.unpacked > max(FREE_BYTES, self._limits.expansion * self.packed):
            raise Expanded(
                self._name,
                f"unpacks to more than {self._limits.expansion} times its size, as a zip bomb does: "
                "if that is right, allow more with --max-expansion",
            )

    def counted(self, packed: BinaryIO) -> BinaryIO:
        """The stream, whose bytes count as packed ones."""
        return _counting(packed, self._pack)

    def bounded(self, unpacked: BinaryIO) -> BinaryIO:
        """The stream, whose bytes are spent. Reading raises Expanded."""
        return _counting(unpacked, self.spend)

    def _pack(self, packed: int) -> None:
        self.packed += packed


def _counting(stream: BinaryIO, count: Any) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Counting(stream, count), _BUFFER_BYTES))


class _Counting(io.RawIOBase):
    def __init__(self, stream: BinaryIO, count: Any) -> None:
        self._stream = stream
        self._count = count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._count(len(data))
        buffer[: len(data)] = data
        return len(data)
