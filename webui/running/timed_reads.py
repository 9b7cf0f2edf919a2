"""A connection's socket for reading a request that must arrive in time."""

from __future__ import annotations

import select
import socket
import time
from threading import BoundedSemaphore


class TimedReads:
    """Reads within a time and a number of bytes that `begin` sets for each request.

    A thread that has to wait takes one of the places in `waiting`: clients that send slowly get no more
    threads than that.
    """

    def __init__(self, sock: socket.socket, waiting: BoundedSemaphore) -> None:
        self.socket = sock
        self.has_expired = False
        """Whether a read was given up: the rest of the request has not come."""
        self._waiting = waiting
        self._until = 0.0
        self._bytes_left = 0

    def begin(self, seconds: float, most_bytes: int) -> None:
        """Allow a request this time to arrive in, and this many bytes."""
        self._until = time.monotonic() + seconds
        self._bytes_left = most_bytes

    def recv(self, size: int) -> bytes:
        """What has come, at most `size` bytes; nothing after the most bytes. Raises TimeoutError."""
        size = min(size, self._bytes_left)
        if size <= 0:
            return b""
        try:
            data = self.socket.recv(size, socket.MSG_DONTWAIT)
        except BlockingIOError:
            self._wait()
            data = self.socket.recv(size)
        self._bytes_left -= len(data)
        return data

    def _wait(self) -> None:
        if self._waiting.acquire(blocking=False):
            try:
                poll = select.poll()
                poll.register(self.socket, select.POLLIN)
                if poll.poll(max(0.0, 1000 * (self._until - time.monotonic()))):
                    return
            finally:
                self._waiting.release()
        self.has_expired = True
        raise TimeoutError("the request did not arrive in time")
