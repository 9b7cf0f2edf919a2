"""A load's hold on its second process, which prepares batches as the load itself does.

Nothing here waits for the other side but `wait`: pipes take and give what they can at the moment. That the
second process dies is no error here: what was asked of it is left undone, and the load does it.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from esr.engines.segments.writer.batch import Batch
from esr.engines.segments.writer.worker import LENGTH_BYTES, message

_PIPE_BYTES = 2**20  # of Linux; elsewhere a pipe is as large as it is
_PATIENCE = 10.0  # seconds; a batch takes hundredths
_END = 1.0  # seconds for it to end by itself


def possible() -> bool:
    """Whether there is a processor to spare, and pipes that do not wait."""
    able = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return os.name == "posix" and len(able) > 1 and bool(sys.executable) and not hasattr(sys, "frozen")


class Helper:
    """The second process. Close it when it is no longer needed."""

    def __init__(self, analyzer: str, title: bool) -> None:
        """Raises OSError if it cannot be started."""
        command = [sys.executable, "-P", "-m", "esr.engines.segments.writer.worker"]
        self._process = subprocess.Popen(
            [*command, analyzer, "title" if title else "no-title"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        )
        assert self._process.stdin and self._process.stdout
        self._to, self._from = self._process.stdin, self._process.stdout
        for pipe in (self._to, self._from):
            os.set_blocking(pipe.fileno(), False)
            _enlarge(pipe.fileno())
        self._sending: deque[memoryview] = deque()
        self._received = bytearray()
        self.alive = True
        self.asked = 0
        """How many answers are still to come."""

    def give(self, codes: Sequence[bytes]) -> None:
        """Ask for the batch of these."""
        self._sending.append(memoryview(message(codes)))
        self.asked += 1

    def answers(self) -> list[Batch]:
        """Those that have come, in the order in which they were asked for."""
        try:
            self._send()
            self._receive()
            return self._whole()
        except (OSError, EOFError, pickle.UnpicklingError):
            self.alive = False
            return []

    def wait(self) -> None:
        """Return when there is something new, or it is clear that there will not be."""
        watched = select.poll()
        watched.register(self._from.fileno(), select.POLLIN)
        if self._sending:
            watched.register(self._to.fileno(), select.POLLOUT)
        self.alive = bool(watched.poll(_PATIENCE * 1000))

    def close(self) -> None:
        self._to.close()
        self._from.close()
        try:
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self) -> None:
        try:
            while self._sending:
                sent = os.write(self._to.fileno(), self._sending[0])
                self._sending[0] = self._sending[0][sent:]
                if not self._sending[0]:
                    self._sending.popleft()
        except BlockingIOError:
            pass

    def _receive(self) -> None:
        try:
            while content := os.read(self._from.fileno(), _PIPE_BYTES):
                self._received += content
        except BlockingIOError:
            return
        raise EOFError

    def _whole(self) -> list[Batch]:
        found: list[Batch] = []
        while len(self._received) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(self._received[:LENGTH_BYTES])
            if len(self._received) < end:
                break
            found.append(pickle.loads(self._received[LENGTH_BYTES:end]))
            del self._received[:end]
        self.asked -= len(found)
        return found


def _enlarge(pipe: int) -> None:
    """Make room for some batches, so that neither side stands still while the other is at work."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # more than is allowed
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
