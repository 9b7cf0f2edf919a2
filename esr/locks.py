"""Locks on files between processes: they are taken, waited for, or looked at.

The system releases a lock when its process ends. Looking at one neither takes it nor writes, so it disturbs
nobody, and needs only permission to read the file.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esr.errors import UsageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

_RECORD = struct.Struct("hhqqi4x")
"""The kernel's `struct flock`: type, whence, start, length and process."""


def require_locks() -> None:
    """Raise UsageError if this system has no locks of POSIX, as Windows has none."""
    if fcntl is None:
        raise UsageError(
            "index folders, loads and esr serve need the file locks of Linux and macOS, which this system "
            "lacks: on Windows, use WSL 2 or the container image (docs/installing.md)"
        )


def take_lock(file: FileDescriptorLike, *, wait: bool = False, shared: bool = False) -> None:
    """Take the lock of an open file until it is closed. Raises BlockingIOError if another process holds it.

    With `wait`, wait for the other process instead. A `shared` lock only excludes those that are not; the
    file must be open for reading and writing. Raises OSError if the file system has no locks.
    """
    require_locks()

    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(file, kind if wait else kind | fcntl.LOCK_NB)
    # Linux cannot tell whether somebody holds this lock except by taking it. `is_locked` looks at another.
    if hasattr(fcntl, "F_OFD_SETLK"):
        with suppress(OSError):  # a folder, or a file system without such locks
            visible = fcntl.F_RDLCK if shared else fcntl.F_WRLCK
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, _RECORD.pack(visible, os.SEEK_SET, 0, 0, 0))


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of a file, as far as the system can tell."""
    require_locks()

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if hasattr(fcntl, "F_OFD_GETLK"):
            with suppress(OSError):
                query = _RECORD.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
                answer: Any = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, query)
                return bool(_RECORD.unpack(answer)[0] != fcntl.F_UNLCK)
        # Without such queries, as on macOS, this takes a shared lock for a moment.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False
