"""The room for a load's spool: on a disk, or in the memory that a container may use if the folder is a tmpfs.

What lies in a tmpfs counts towards a container's limit, past which the system kills without a word.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from esr.documents import Located
from esr.errors import EsrError

SHARE = 0.5
"""Of the bytes of JSON Lines and text, at least so many come to the spool. Of news, 1.7 times as many."""
RESERVE = 64 << 20
"""Bytes that a segment of the spool takes at most, roughly: with less, the load ends before it is killed."""
_EVERY = 500  # documents
_MOUNTS = Path("/proc/self/mounts")
_CGROUPS = Path("/sys/fs/cgroup")


class Room(NamedTuple):
    """Bytes that can be written, and whether to memory."""

    free: int
    is_memory: bool


def find_room(folder: Path) -> Room:
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if not _is_tmpfs(folder):
        return Room(free, False)
    left = _memory_left()
    return Room(free if left is None else min(free, left), True)


def check_room(folder: Path, source_bytes: int) -> None:
    """Raises EsrError if that much text does not fit."""
    room, needed = find_room(folder), int(source_bytes * SHARE)
    if room.free < needed:
        raise _no_room(folder, room, f"this load needs at least {_megabytes(needed)}")


def watch_room(folder: Path, documents: Iterable[Located]) -> Iterator[Located]:
    """Passes documents on, and looks at the room in memory now and then. Raises EsrError if it runs out."""
    for number, located in enumerate(documents):
        if number % _EVERY == 0 and (room := find_room(folder)).is_memory and room.free < RESERVE:
            raise _no_room(folder, room, f"after {number:,} documents this load needs more")
        yield located


def _no_room(folder: Path, room: Room, need: str) -> EsrError:
    kind = "is in memory and has" if room.is_memory else "has"
    return EsrError(
        f"the folder for temporary files, {folder}, {kind} {_megabytes(room.free)} left, and {need}: "
        "nothing was loaded. Set TMPDIR to a folder on a disk with more room"
    )


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.0f} MB"


def _is_tmpfs(folder: Path) -> bool:
    """Whether the innermost mount that has the folder is one."""
    try:
        mounts = [line.split()[1:3] for line in _MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return False
    path = str(folder.resolve())
    holding = [(mount, kind) for mount, kind in mounts if mount == "/" or f"{path}/".startswith(f"{mount}/")]
    return max(holding, key=lambda each: len(each[0]), default=("", ""))[1] == "tmpfs"


def _memory_left() -> int | None:
    """What the limit of this container leaves, caches not counted; None without a limit."""
    for limit, statistics, used in (
        (_CGROUPS / "memory.max", _CGROUPS / "memory.stat", ("anon", "shmem")),
        (
            _CGROUPS / "memory/memory.limit_in_bytes",
            _CGROUPS / "memory/memory.stat",
            ("total_rss", "total_shmem"),
        ),
    ):
        try:
            numbers = dict(line.split() for line in statistics.read_text().splitlines())
            most = limit.read_text().strip()
        except (OSError, ValueError):
            continue
        return None if most == "max" else int(most) - sum(int(numbers.get(name, 0)) for name in used)
    return None
