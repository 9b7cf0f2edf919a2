"""gunicorn's worker with threads, which answers the requests of a busy connection one after another.

It also leaves new connections to workers that have fewer, and keeps threads for requests that have arrived.
"""

from __future__ import annotations

import json
import os
import re
import select
import selectors
import socket
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import BoundedSemaphore
from typing import Any

from gunicorn import util
from gunicorn.http.body import LengthReader
from gunicorn.workers.gthread import ThreadWorker

from webui.running.joined_writes import JoinedWrites
from webui.running.timed_reads import TimedReads

LINGER_SECONDS = 0.02
"""How long a thread waits for the next request of a connection that it has answered."""
MAX_IN_A_ROW = 16
"""Requests after which a connection waits for a thread with all others, of which there may be many."""

ACCEPT_SECONDS, MAX_ACCEPT_SECONDS = 0.0002, 0.002
"""How long a worker waits for another one to take a new connection: for each that it has, and at most."""

HEADER_BYTES = 65_536
"""Bytes of the headers of a request, beside its address."""
_RECEIVED_BYTES = 65_536
_HEAD_END = re.compile(rb"\n\r?\n")
_END_BYTES = 3  # at most, which may have come before the rest of the end
_HEALTH_CHECK = re.compile(rb"(?:GET|HEAD) /healthz[ ?]")
_TIMEOUT = "408 Request Timeout", "timeout", "The request did not arrive in time: send all of it at once."
_TOO_LONG = "414 URI Too Long", "address_too_long", "The address or its headers are too long: send less."


class KeepaliveWorker(ThreadWorker):  # type: ignore[misc]
    """A thread keeps a connection as long as its next request comes at once.

    In gunicorn, the worker's main thread gives each request to a thread and takes the connection back, which
    is a fourth of the server's work for a short answer.

    A request gets a thread when its head is there; until then, the main thread reads. At most half of the
    threads wait for bodies. Health checks have a thread of their own.
    """

    receive_seconds = 20.0
    """The time in which the head of a request must arrive, and then its body."""
    address_bytes = 32_000
    body_bytes = 1_000_000

    @classmethod
    def limited(cls, receive_seconds: float, address_bytes: int, body_bytes: int) -> type[KeepaliveWorker]:
        """A class of workers with these limits: gunicorn makes the workers itself."""
        limits = {
            "receive_seconds": receive_seconds,
            "address_bytes": address_bytes,
            "body_bytes": body_bytes,
        }
        return type(cls.__name__, (cls,), limits)

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._arriving: dict[Any, float] = {}
        """Connections whose next head is not complete, and until when it must be, the earliest first."""
        self._waiting = BoundedSemaphore(max(1, self.cfg.threads // 2))
        # The other threads are free for connections that come meanwhile.
        self._lingering = BoundedSemaphore(max(1, self.cfg.threads // 2))

    def get_thread_pool(self) -> Executor:
        return _RequestPool(self.cfg.threads)

    def enqueue_req(self, conn: Any) -> None:
        """Give a connection to a thread as soon as the head of its request is there. In the main thread."""
        self._prepare(conn)
        if _HEAD_END.search(conn.parser.unreader.buf.getvalue()) or self._receive(conn):
            super().enqueue_req(conn)
        else:
            self._arriving[conn] = time.monotonic() + self.receive_seconds
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._continue_head, conn))

    def _prepare(self, conn: Any) -> None:
        conn.init()
        if not isinstance(conn.parser.unreader.sock, TimedReads):
            conn.parser.unreader.sock = TimedReads(conn.sock, self._waiting)

    def _continue_head(self, conn: Any, sock: Any) -> None:
        if self._receive(conn):
            self.poller.unregister(sock)
            del self._arriving[conn]
            super().enqueue_req(conn)

    def _receive(self, conn: Any) -> bool:
        """Read what has come of a head. Returns whether a thread can go on with it, or with an error."""
        buffer = conn.parser.unreader.buf
        size = buffer.seek(0, os.SEEK_END)
        try:
            data = conn.sock.recv(_RECEIVED_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True
        buffer.write(data)
        buffer.seek(max(0, size - _END_BYTES))
        return not data or bool(_HEAD_END.search(buffer.read())) or self._is_too_long(buffer)

    def _is_too_long(self, buffer: Any) -> bool:
        """Whether more has come than a head may have, and yet no end of it."""
        size: int = buffer.seek(0, os.SEEK_END)
        return size > self.address_bytes + HEADER_BYTES and not _HEAD_END.search(buffer.getvalue())

    def murder_keepalived(self, *args: Any, **options: Any) -> None:
        """Close connections that have waited for too long, also those whose head is not complete."""
        super().murder_keepalived(*args, **options)
        now = time.monotonic()
        for conn, until in list(self._arriving.items()):
            has_begun = bool(conn.parser.unreader.buf.getvalue())
            if now < until and (self.alive or has_begun):
                continue
            del self._arriving[conn]
            self.poller.unregister(conn.sock)
            self.nr_conns -= 1
            if has_begun:
                _refuse(conn.sock, *_TIMEOUT)
            conn.close()

    def accept(self, listener: Any) -> None:
        """Take a new connection, if there still is one. All workers hear of it; those with fewer come first.

        Otherwise one of two workers may have most of the clients, and half of the processors little to do.
        """
        if self.cfg.workers > 1:
            time.sleep(min(self.nr_conns * ACCEPT_SECONDS, MAX_ACCEPT_SECONDS))
        super().accept(listener)

    def handle(self, conn: Any) -> Any:
        """What it returns says whether the connection stays open. Runs in a thread."""
        self._prepare(conn)
        unreader = conn.parser.unreader
        if self._is_too_long(unreader.buf):
            _refuse(conn.sock, *_TOO_LONG)
            return False
        if _HEALTH_CHECK.match(unreader.buf.getvalue()):
            return self._handle_one(conn)
        result, answered = self._handle_one(conn), 1
        while result is True and self.alive and self._has_next(conn, answered < MAX_IN_A_ROW):
            result = self._handle_one(conn)
            answered += 1
        return result

    def _handle_one(self, conn: Any) -> Any:
        """Answer one request, which may use its time and its bytes."""
        reads = conn.parser.unreader.sock
        reads.begin(self.receive_seconds, self.address_bytes + HEADER_BYTES + self.body_bytes)
        result = super().handle(conn)
        if reads.has_expired:
            conn.close = lambda graceful=False: util.close(conn.sock)  # to wait for the client takes 2 s
            return False
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


class _RequestPool(ThreadPoolExecutor):
    """The threads that answer requests, and one for health checks, which wait for no other request."""

    def __init__(self, threads: int) -> None:
        super().__init__(max_workers=threads)
        self._health_checks = ThreadPoolExecutor(max_workers=1)

    def submit(self, handle: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        conn = args[0]
        if _HEALTH_CHECK.match(conn.parser.unreader.buf.getvalue()):
            return self._health_checks.submit(handle, *args, **kwargs)
        return super().submit(handle, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._health_checks.shutdown(wait, cancel_futures=cancel_futures)
        super().shutdown(wait, cancel_futures=cancel_futures)


def _refuse(sock: socket.socket, status: str, code: str, message: str) -> None:
    """Answer a request that never reaches the application, as far as that needs no waiting."""
    body = json.dumps({"error": {"code": code, "message": message, "field": None}}) + "\n"
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: application/json\r\n"
    with suppress(OSError):  # the client may be gone
        sock.send(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode(), socket.MSG_DONTWAIT)
