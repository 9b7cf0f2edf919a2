"""A connection's socket that sends the headers of an answer together with the first piece of its body."""

from __future__ import annotations

import socket
from typing import Any

MAX_JOINED = 1 << 16
"""Bytes of a piece up to which it is joined. To copy a larger one takes as long as to send twice."""


class JoinedWrites:
    """Holds back the first bytes that are sent until there are more, or until the socket is used otherwise.

    gunicorn sends the headers of each answer by themselves: the client, or the proxy in front, would wake up
    twice for each answer.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._held: bytes | None = b""
        """The first bytes, empty as long as there are none; None once they were sent."""

    def sendall(self, data: bytes) -> None:
        """Send the bytes, or hold them back if they are the first."""
        held = self._held
        if held is None:
            self.socket.sendall(data)
        elif not held:
            self._held = data
        elif len(data) <= MAX_JOINED:
            self._held = None
            self.socket.sendall(held + data)
        else:
            self.flush()
            self.socket.sendall(data)

    def flush(self) -> None:
        """Send what is held back."""
        if held := self._held:
            self._held = None
            self.socket.sendall(held)

    def __getattr__(self, name: str) -> Any:
        self.flush()
        return getattr(self.socket, name)
