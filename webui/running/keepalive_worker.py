"""gunicorn's worker with threads, which answers the requests of a busy connection one after another.

It also leaves new connections to workers that have fewer.
"""

from __future__ import annotations

import select
import time
from threading import BoundedSemaphore
from typing import Any

from gunicorn.http.body import LengthReader
from gunicorn.workers.gthread import ThreadWorker

from webui.running.joined_writes import JoinedWrites

LINGER_SECONDS = 0.02
"""How long a thread waits for the next request of a connection that it has answered."""
MAX_IN_A_ROW = 16
"""Requests after which a connection waits for a thread with all others, of which there may be many."""

ACCEPT_SECONDS, MAX_ACCEPT_SECONDS = 0.0002, 0.002
"""How long a worker waits for another one to take a new connection: for each that it has, and at most."""


class KeepaliveWorker(ThreadWorker):  # type: ignore[misc]
    """A thread keeps a connection as long as its next request comes at once.

    In gunicorn, the worker's main thread gives each request to a thread and takes the connection back, which
    is a fourth of the server's work for a short answer.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        # The other threads are free for connections that come meanwhile.
        self._lingering = BoundedSemaphore(max(1, self.cfg.threads // 2))

    def accept(self, listener: Any) -> None:
        """Take a new connection, if there still is one. All workers hear of it; those with fewer come first.

        Otherwise one of two workers may have most of the clients, and half of the processors little to do.
        """
        if self.cfg.workers > 1:
            time.sleep(min(self.nr_conns * ACCEPT_SECONDS, MAX_ACCEPT_SECONDS))
        super().accept(listener)

    def handle(self, conn: Any) -> Any:
        """What it returns says whether the connection stays open. Runs in a thread."""
        result, answered = super().handle(conn), 1
        while result is True and self.alive and self._has_next(conn, answered < MAX_IN_A_ROW):
            result = super().handle(conn)
            answered += 1
        return result

    def handle_request(self, req: Any, conn: Any) -> Any:
        """What it returns says whether the connection may stay open. The answer is sent at the end."""
        joined = conn.sock = JoinedWrites(conn.sock)
        try:
            result = super().handle_request(req, conn)
        finally:
            conn.sock = joined.socket
            joined.flush()
        reader = req.body.reader
        if isinstance(reader, LengthReader) and not reader.length:
            # Nothing is left of the request. gunicorn would make sure of it with four changes of a timeout.
            conn.parser.mesg = None
        return result

    def _has_next(self, conn: Any, may_wait: bool) -> bool:
        """Whether the next request begins to come, or has come with the one before."""
        if conn.parser.unreader.buf.getvalue():  # nobody else would read it
            return True
        if not may_wait or not self._lingering.acquire(blocking=False):
            return False
        try:
            poll = select.poll()
            poll.register(conn.sock, select.POLLIN)
            return bool(poll.poll(1000 * LINGER_SECONDS))
        finally:
            self._lingering.release()
