"""A TCP proxy that does to connections what bad networks do."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

CHUNK = 65_536
HARMS = ("drop", "delay", "cut", "lose", "duplicate")
"""Bytes that never arrive; that arrive late; a connection that is cut before the request arrives, or after
it, so that the answer is lost; a request that arrives twice."""


class Proxy:
    """Listens on a port of its own and passes on to another, until it is told to do `harm`.

    `harm` is one of HARMS or a mix of them, done to a `share` of what clients send. `url` is where to go.
    """

    def __init__(self, host: str, port: int, seed: int = 0) -> None:
        self._to = host, port
        self._chance = random.Random(seed)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self.harm: tuple[str, ...] = ()
        self.share = 0.0
        self.done: list[str] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for each in self._open:
                _cut(each)
        self._thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                pair = client, self._connected()
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open += pair
            self._start(lambda pair=pair: self._requests(*pair))
            self._start(lambda pair=pair: self._answers(*pair))

    def _connected(self) -> socket.socket:
        return socket.create_connection(self._to, timeout=60)

    @staticmethod
    def _start(work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        """Pass on what the client sends, harmed or not. A harm stays with its connection."""
        harm = None
        twin: socket.socket | None = None
        with contextlib.suppress(OSError):
            while data := client.recv(CHUNK):
                if harm is None and self.harm and self._chance.random() < self.share:
                    harm = self._chance.choice(self.harm)
                    self.done.append(harm)
                if harm == "drop":
                    continue
                if harm == "cut":
                    break
                if harm == "delay":
                    time.sleep(self._chance.uniform(0, 0.3))
                if harm == "duplicate":
                    twin = twin or self._twin()
                    twin.sendall(data)
                server.sendall(data)
                if harm == "lose":
                    time.sleep(0.2)  # time for the server to do what it is asked
                    break
        for each in (client, server, twin):
            if each is not None:
                _cut(each)

    def _twin(self) -> socket.socket:
        """A connection on which the same is asked, and whose answers nobody reads but to make room."""
        twin = self._connected()

        def swallow() -> None:
            with contextlib.suppress(OSError):
                while twin.recv(CHUNK):
                    pass

        self._start(swallow)
        return twin

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the other direction may have been cut already
            server.settimeout(None)
            while data := server.recv(CHUNK):
                client.sendall(data)
        for each in (client, server):
            _cut(each)


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
