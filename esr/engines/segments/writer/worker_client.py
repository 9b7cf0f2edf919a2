"""The load's side of its second process, which builds batches just as the load itself does.

Only `wait` blocks: the pipes take and give what they can at the moment. The load survives the death of the
worker process, and builds itself the batches that it left undone.
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
from esr.engines.segments.writer.worker import LENGTH_BYTES, encode_message

_PIPE_BYTES = 2**20  # on Linux; elsewhere pipes keep their size
_RESPONSE_TIMEOUT = 10.0  # seconds; a batch takes hundredths of a second
_EXIT_TIMEOUT = 1.0  # seconds


def can_start_worker() -> bool:
    """Whether there is a spare processor, and pipes that need not block."""
    processors = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    can_spawn = bool(sys.executable) and not hasattr(sys, "frozen")
    return os.name == "posix" and len(processors) > 1 and can_spawn


class WorkerClient:
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
        self._input, self._output = self._process.stdin, self._process.stdout
        for pipe in (self._input, self._output):
            os.set_blocking(pipe.fileno(), False)
            _enlarge(pipe.fileno())
        self._unsent: deque[memoryview] = deque()
        self._received = bytearray()
        self.is_alive = True

    def submit(self, documents: Sequence[bytes]) -> None:
        """Request the batch of documents, given as JSON."""
        self._unsent.append(memoryview(encode_message(documents)))

    def receive(self) -> list[Batch]:
        """The batches that have arrived, in the order of the requests."""
        try:
            self._send()
            self._receive()
            return self._decode()
        except (OSError, EOFError, pickle.UnpicklingError):
            self.is_alive = False
            return []

    def wait(self) -> None:
        """Return when the pipes are ready. A worker that does not respond in time counts as dead."""
        poll = select.poll()
        poll.register(self._output.fileno(), select.POLLIN)
        if self._unsent:
            poll.register(self._input.fileno(), select.POLLOUT)
        self.is_alive = bool(poll.poll(_RESPONSE_TIMEOUT * 1000))

    def close(self) -> None:
        self._input.close()
        self._output.close()
        try:
            self._process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self) -> None:
        try:
            while self._unsent:
                count = os.write(self._input.fileno(), self._unsent[0])
                self._unsent[0] = self._unsent[0][count:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            pass

    def _receive(self) -> None:
        try:
            while content := os.read(self._output.fileno(), _PIPE_BYTES):
                self._received += content
        except BlockingIOError:
            return
        raise EOFError

    def _decode(self) -> list[Batch]:
        """The batches of the complete messages."""
        batches: list[Batch] = []
        while len(self._received) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(self._received[:LENGTH_BYTES])
            if len(self._received) < end:
                break
            batches.append(pickle.loads(self._received[LENGTH_BYTES:end]))
            del self._received[:end]
        return batches


def _enlarge(pipe: int) -> None:
    """Make room for several batches, so that neither side has to wait while the other works."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # above the system's limit
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
