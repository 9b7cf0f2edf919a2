"""The processes that write loads, and whether they are alive.

A heartbeat in the `_meta` of a load's index, which the writer renews, distinguishes a live load from a killed
one. On the writer's machine, its process id does. Process ids are compared only within one process space:
containers may share a host name, and each has a process 1.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from esr.elastic.cluster import Cluster
from esr.elastic.meta import Load, read, write_sentences
from esr.errors import EsrError
from esr.processes import is_running
from esr.threads import Repeated

_PROC = Path("/proc")


class LoadOwner(NamedTuple):
    """The process that writes a load. `host` is a name for people.

    `process_space` is the scope in which a process id is unique. `started` distinguishes a process from an
    earlier one with the same id. Without a process id, it is unknown whether the load is alive.
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
        """Whether the process, if alive, is visible from this one."""
        return self.process_id > 0 and self.process_space == _process_space()

    @property
    def is_running(self) -> bool:
        """Whether the process of a near owner is alive."""
        return is_running(self.process_id) and read_start(self.process_id) == self.started


def this_process() -> str:
    pid = os.getpid()
    return str(LoadOwner(socket.gethostname(), _process_space(), pid, read_start(pid)))


@cache
def _process_space() -> str:
    """The boot of this machine and the namespace of its process ids, or else the host name."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{(_PROC / 'self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def read_start(process_id: int) -> str:
    """The start time of a process, in ticks since the boot; "" if the system does not tell."""
    try:
        stat = (_PROC / str(process_id) / "stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # the 22nd field; the name before it may contain blanks


INTERVAL = 10.0
"""Seconds between two heartbeats."""
PATIENCE = 120.0
"""Seconds without a heartbeat after which a load counts as killed. Clocks must differ by much less."""
POLL_SECONDS = 1.0
"""Seconds between two looks at a load that may still run."""


class Heartbeat(Repeated):
    """Renews the heartbeats of loads in a background thread while the block runs."""

    def __init__(self, cluster: Cluster, *loads: Load) -> None:
        super().__init__(INTERVAL, self._renew_all, "heartbeat", patience=POLL_SECONDS)
        self._cluster = cluster
        self._loads = loads
        self._lost: LoadOwner | None = None

    def add(self, load: Load) -> None:
        self._loads = (*self._loads, load)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise EsrError if another process has taken a load over, unless the block failed."""
        # A renewal in progress must end before the caller's next write. After a failure there is no next
        # write.
        super().__exit__(kind, error, trace)
        if self._lost is not None and error is None:
            raise EsrError(
                f"a process on {self._lost.host} has taken this load over, as it showed no sign of life for "
                f"{PATIENCE:g} s: that one will finish it"
            )

    def _renew_all(self) -> None:
        for load in self._loads:
            with suppress(EsrError):  # the load itself will report the error
                self._renew(load)

    def _renew(self, load: Load) -> None:
        for stored in read(self._cluster, load.index):  # empty if the index was deleted
            if stored.owner == load.owner:
                write_sentences(self._cluster, replace(stored, heartbeat=time.time()))
            else:
                self._lost = LoadOwner.parse(stored.owner)


def is_killed(load: Load) -> bool:
    """Whether the writer of an incomplete load has ended, as far as can be determined."""
    owner = LoadOwner.parse(load.owner)
    if owner.is_near:
        return not owner.is_running
    return load.heartbeat > 0 and time.time() - load.heartbeat > PATIENCE


def is_known_alive(load: Load) -> bool:
    """Whether the writer is known to be alive. Without process id and heartbeat, it is not."""
    return not is_killed(load) and (LoadOwner.parse(load.owner).is_near or load.heartbeat > 0)


def wait_for_end(cluster: Cluster, load: Load) -> bool:
    """Whether the writer of a load has ended. Waits for its next heartbeat, or until that is long overdue.

    Waiting makes the result independent of other machines' clocks.
    """
    if LoadOwner.parse(load.owner).is_near or not load.heartbeat:
        return not is_known_alive(load)
    end = time.monotonic() + PATIENCE
    while not is_killed(load):
        if time.monotonic() > end:
            return True
        time.sleep(POLL_SECONDS)
        stored = read(cluster, load.index)
        if not stored or stored[0].heartbeat != load.heartbeat:
            return False
    return True
