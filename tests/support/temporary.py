"""Where the tests write: memory, if there is enough of it.

An index is synced to disk file by file, and most tests make one: on a disk that takes 5 ms to sync, tests of
the embedded engine take twice as long as in memory. What they test is the same: a killed process, unlike a
machine without power, loses nothing that was written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import MutableMapping
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH = 8 << 30
"""Bytes that have to be free: nodes are unpacked and load there too."""


def use_memory(environment: MutableMapping[str, str], memory: Path = MEMORY, enough: int = ENOUGH) -> None:
    """Let temporary files of this process and of those that it starts be in memory.

    A TMPDIR that is set stays. So does the disk where programs cannot be run from memory: a node has some.
    """
    if "TMPDIR" in environment or not os.access(memory, os.W_OK | os.X_OK):
        return
    is_executable = not os.statvfs(memory).f_flag & os.ST_NOEXEC
    if is_executable and shutil.disk_usage(memory).free >= enough:
        environment["TMPDIR"] = str(memory)
