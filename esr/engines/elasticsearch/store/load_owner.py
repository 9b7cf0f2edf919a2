"""Which process writes a load, so that what a killed loader left can be told from what another one writes.

A process is found again only among the processes that this one sees: containers may share a name, and each
has a process 1. What others write is alive by its heartbeat.
"""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")


class LoadOwner(NamedTuple):
    """`host` is a name for people. Without a process id, nothing tells whether the load is alive.

    `process_space` is what a process id is unique in. `started` tells a process from an earlier one with its
    id.
    """

    host: str
    process_space: str = ""
    process_id: int = 0
    started: str = ""

    @classmethod
    def parse(cls, text: str) -> LoadOwner:
        host, *rest = text.rsplit(":", 3)
        if len(rest) != 3:
            return cls(host)
        space, process_id, started = rest
        return cls(host, space, int(process_id), started)

    def __str__(self) -> str:
        return ":".join(map(str, self))

    @property
    def is_near(self) -> bool:
        """Whether this process sees it, if it is alive."""
        return self.process_id > 0 and self.process_space == _process_space()

    @property
    def is_running(self) -> bool:
        """Whether the process of a near owner is alive."""
        return _is_alive(self.process_id) and _started(self.process_id) == self.started


def this_process() -> str:
    pid = os.getpid()
    return str(LoadOwner(socket.gethostname(), _process_space(), pid, _started(pid)))


@cache
def _process_space() -> str:
    """The boot of this machine and the namespace of its process ids; its name where there is neither."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{(_PROC / 'self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(process_id: int) -> str:
    """When a process was started, in ticks since the boot; "" where the system does not say."""
    try:
        stat = (_PROC / str(process_id) / "stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # the 22nd field: the name before it may have blanks
