"""The server: gunicorn around the Flask application. All of gunicorn's settings are made here.

gunicorn's threaded worker is changed in two ways. To save work for short answers, a thread keeps a connection
whose next request comes at once, and sends the headers of an answer with the first piece of its body. To
protect the threads from slow clients, a request gets a thread only when its head has arrived, and must arrive
within a limited time.
"""

from __future__ import annotations

import json
import os
import re
import select
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import BoundedSemaphore
from typing import Any

from flask import Flask
from gunicorn import util
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger
from gunicorn.http.body import LengthReader
from gunicorn.workers.gthread import ThreadWorker

from esr.errors import EngineUnreachable, EsrError, UsageError
from esr.index.limits import within
from esr.index.login_variables import redact
from esr.ranking.searcher import open_searcher
from webui.running.logs import JsonFormatter, log_to_standard_error
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import COUNTS_FOLDER, Settings, parse_locations, parse_origins, shared_folder

# Sockets

MAX_JOINED = 1 << 16
"""Maximum bytes of a piece that is joined to the headers. Copying more takes as long as sending twice."""


class JoinedWrites:
    """A connection's socket that sends the headers of an answer together with the first piece of its body.

    gunicorn sends the headers separately, which wakes up the client, or the proxy in front, twice for each
    answer. The first bytes are held back until more follow, or until the socket is used otherwise.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._held: bytes | None = b""
        """The bytes held back: empty before the first ones are written, None after they were sent."""

    def sendall(self, data: bytes) -> None:
        """Send the bytes, or hold them back if they are the first ones."""
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
        """Send the bytes held back."""
        if held := self._held:
            self._held = None
            self.socket.sendall(held)

    def __getattr__(self, name: str) -> Any:
        self.flush()
        return getattr(self.socket, name)


class TimedReads:
    """A connection's socket that reads each request within the limits of time and bytes set by `begin`.

    A thread that has to wait takes a slot of `waiting`; without a free slot, it gives up at once. Thus slow
    clients occupy no more threads than there are slots.
    """

    def __init__(self, sock: socket.socket, waiting: BoundedSemaphore) -> None:
        self.socket = sock
        self.has_expired = False
        """Whether a read timed out, so that the rest of the request is missing."""
        self._waiting = waiting
        self._until = 0.0
        self._bytes_left = 0

    def begin(self, seconds: float, most_bytes: int) -> None:
        """Limit the next request to this time and this number of bytes."""
        self._until = time.monotonic() + seconds
        self._bytes_left = most_bytes

    def recv(self, size: int) -> bytes:
        """At most `size` bytes; empty at the limit of the request. Raises TimeoutError."""
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


# The worker

LINGER_SECONDS = 0.02
"""Seconds that a thread waits for the next request of a connection it has just answered."""
MAX_IN_A_ROW = 16
"""Requests of a connection that a thread answers in a row before the connection must queue."""

ACCEPT_SECONDS, MAX_ACCEPT_SECONDS = 0.0002, 0.002
"""Seconds that a worker leaves a new connection to other workers: per connection it has, and at most."""

HEADER_BYTES = 65_536
"""Maximum bytes of the headers of a request, in addition to its address."""
_RECEIVED_BYTES = 65_536
_HEAD_END = re.compile(rb"\n\r?\n")
_END_BYTES = 3  # the end of a head (4 bytes) may arrive in two pieces
_HEALTH_CHECK = re.compile(rb"(?:GET|HEAD) /healthz[ ?]")
_TIMEOUT = "408 Request Timeout", "timeout", "The request did not arrive in time: send all of it at once."
_TOO_LONG = "414 URI Too Long", "address_too_long", "The address or its headers are too long: send less."


class KeepaliveWorker(ThreadWorker):  # type: ignore[misc]
    """A threaded worker whose threads keep a connection as long as its next request comes at once.

    gunicorn's main thread hands each request to a thread and takes the connection back, which is a quarter
    of the server's work for a short answer.

    The main thread reads the head of a request; once it is complete, a thread takes over. At most half of the
    threads wait for bodies. Health checks have a separate thread.
    """

    receive_seconds = 20.0
    """Seconds within which the head of a request must arrive, and then its body."""
    address_bytes = 32_000
    body_bytes = 1_000_000

    @classmethod
    def limited(cls, receive_seconds: float, address_bytes: int, body_bytes: int) -> type[KeepaliveWorker]:
        """A subclass with these limits. gunicorn takes a class, since it creates the workers itself."""
        limits = {
            "receive_seconds": receive_seconds,
            "address_bytes": address_bytes,
            "body_bytes": body_bytes,
        }
        return type(cls.__name__, (cls,), limits)

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._arriving: dict[Any, float] = {}
        """Connections whose next head is incomplete, each with its deadline, the earliest first."""
        self._waiting = BoundedSemaphore(max(1, self.cfg.threads // 2))
        # The other threads stay free for new connections.
        self._lingering = BoundedSemaphore(max(1, self.cfg.threads // 2))

    def get_thread_pool(self) -> Executor:
        return _RequestPool(self.cfg.threads)

    def enqueue_req(self, conn: Any) -> None:
        """Hand a connection to a thread once the head of its request has arrived. Runs in the main thread."""
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
        """Read more of a head. Returns whether a thread must take over, possibly to report an error."""
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
        """Whether the head exceeds its maximum size before its end."""
        size: int = buffer.seek(0, os.SEEK_END)
        return size > self.address_bytes + HEADER_BYTES and not _HEAD_END.search(buffer.getvalue())

    def murder_keepalived(self, *args: Any, **options: Any) -> None:
        """Close connections that have been idle for too long, and those whose head did not arrive in time."""
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
        """Accept a new connection, unless another worker has. Workers with fewer connections come first.

        All workers wake up. Without the delay, one of two workers may get most of the clients, so that half
        of the processors are idle.
        """
        if self.cfg.workers > 1:
            time.sleep(min(self.nr_conns * ACCEPT_SECONDS, MAX_ACCEPT_SECONDS))
        super().accept(listener)

    def handle(self, conn: Any) -> Any:
        """Answer the requests of a connection. Returns whether it stays open. Runs in a thread."""
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
        """Answer one request within its limits of time and bytes."""
        reads = conn.parser.unreader.sock
        reads.begin(self.receive_seconds, self.address_bytes + HEADER_BYTES + self.body_bytes)
        result = super().handle(conn)
        if reads.has_expired:
            conn.close = lambda graceful=False: util.close(conn.sock)  # a graceful close takes 2 s
            return False
        return result

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Answer a request and send all of the answer. Returns whether the connection may stay open."""
        joined = conn.sock = JoinedWrites(conn.sock)
        try:
            result = super().handle_request(req, conn)
        finally:
            conn.sock = joined.socket
            joined.flush()
        reader = req.body.reader
        if isinstance(reader, LengthReader) and not reader.length:
            # The request was read to its end. This saves gunicorn's check, which sets a timeout four times.
            conn.parser.mesg = None
        return result

    def _has_next(self, conn: Any, may_wait: bool) -> bool:
        """Whether the next request has begun to arrive, possibly together with the previous one."""
        if conn.parser.unreader.buf.getvalue():  # no other thread can read it
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
    """The threads that answer requests, and one for health checks, which never wait for other requests."""

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
    """Answer a request that never reaches the application, without waiting for the client."""
    body = json.dumps({"error": {"code": code, "message": message, "field": None}}) + "\n"
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: application/json\r\n"
    with suppress(OSError):  # the client may be gone
        sock.send(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode(), socket.MSG_DONTWAIT)


# The server

_ENDS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})
GRACE_SECONDS = 5
"""Seconds after the deadline within which open requests may finish when the server is stopped."""

CreateApp = Callable[[ServedIndexes, Settings, str], Flask]
"""Creates the application of a worker, given the file in which workers count the requests of clients.

The metrics library must not be imported before this call.
"""


CheckAccess = Callable[[Settings, Collection[str]], None]
"""Reports mistakes in the access settings, given the names of the indexes."""


def serve(where: str, host: str, port: int, create_app: CreateApp, check_access: CheckAccess) -> None:
    """Serve one index or several until SIGTERM or SIGINT, then exit when open requests are answered.

    `where` is a location, or `name=location name=location …`. Port 0 takes any free port. Settings come from
    the environment. The server starts even if an engine cannot be reached. Raises EsrError if an index does
    not exist or cannot be used, or if the address cannot be used.
    """
    settings = Settings.from_environment(os.environ)
    locations = parse_locations(where)
    with shared_folder(settings.workers) as folder:
        rates = ":memory:" if folder is None else str(folder / "rates.sqlite")
        check_access(settings, locations)
        check(locations, settings)
        listener = listen(host, port)
        greeting = f"esr serves {redact(where)} at {url(listener)}"
        _Server(
            locations,
            settings,
            listener.detach(),
            greeting,
            lambda served, limits: create_app(served, limits, rates),
        ).run()


def check(locations: Mapping[str, str], settings: Settings) -> None:
    """Open each index once, to report mistakes before the server starts. Raises EsrError."""
    from webui.running import rate_limit, telemetry  # imports the metrics library

    telemetry.check_query_log(settings)
    telemetry.check_traces(os.environ)
    rate_limit.parse_rate(settings.rate)
    parse_origins(settings.cors_origins)
    for location in locations.values():
        try:
            with within(settings.deadline):
                open_searcher(location).close()
        except EngineUnreachable as error:
            print(f"Warning: {error}. Each search will try again.", file=sys.stderr, flush=True)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, bound before workers start, to report a port in use at once. Raises EsrError."""
    address = f"{host}:{port}"
    if not 0 <= port <= 65_535:
        raise UsageError(f"cannot serve at port {port}: give a number from 0 to 65535")
    try:
        family, kind, _, _, socket_address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise EsrError(f"cannot serve at {address}: unknown host") from error
    listener = socket.socket(family, kind)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(socket_address)
        listener.listen()
    except OSError as error:
        listener.close()
        reason = (error.strerror or str(error)).lower()
        raise EsrError(f"cannot serve at {address}: {reason}; give another --host or --port") from error
    return listener


def url(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Log(Logger):  # type: ignore[misc]
    """gunicorn's own log as JSON, with events such as the death of a worker."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())


def end_new_workers() -> None:
    """Let signals end a worker from its start.

    Until a new worker installs its handlers, it would put signals into its copy of the arbiter's queue, which
    nobody reads. Signals are blocked during the fork, because Python drops those that arrive meanwhile.
    """

    def end() -> None:
        for number in _ENDS:
            signal.signal(number, signal.SIG_DFL)
        allow()

    allow = partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, _ENDS)
    hold = partial(signal.pthread_sigmask, signal.SIG_BLOCK, _ENDS)
    os.register_at_fork(before=hold, after_in_parent=allow, after_in_child=end)


class _Server(BaseApplication):  # type: ignore[misc]
    """gunicorn with its settings in code. Indexes are opened in the workers, after the fork."""

    def __init__(
        self,
        locations: Mapping[str, str],
        settings: Settings,
        descriptor: int,
        greeting: str,
        create_app: Callable[[ServedIndexes, Settings], Flask],
    ) -> None:
        self._locations = locations
        self._limits = settings
        self._descriptor = descriptor
        self._greeting = greeting
        self._create_app = create_app
        self._indexes: ServedIndexes | None = None
        super().__init__()

    def run(self) -> None:
        end_new_workers()
        super().run()

    def load_config(self) -> None:
        for name, value in self._settings().items():
            if name in self.cfg.settings:  # older releases of gunicorn have fewer
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """The application of a worker. It opens no index: a worker that fails to start stops the server."""
        log_to_standard_error()
        self._indexes = ServedIndexes.at(self._locations, self._limits)
        return self._create_app(self._indexes, self._limits)

    def _settings(self) -> dict[str, Any]:
        def greet(arbiter: Any) -> None:
            print(self._greeting, flush=True)

        def close_indexes(arbiter: Any, worker: Any) -> None:
            if self._indexes is not None:
                self._indexes.close()
            from webui.running import telemetry

            telemetry.shut_down_traces()

        def forget_worker(arbiter: Any, worker: Any) -> None:
            if COUNTS_FOLDER in os.environ:
                from prometheus_client.multiprocess import mark_process_dead

                mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]

        limits = self._limits
        return {
            "bind": f"fd://{self._descriptor}",
            "worker_class": KeepaliveWorker.limited(limits.receive, limits.address_bytes, limits.body_bytes),
            "workers": limits.workers,
            "threads": limits.threads,
            "timeout": 60,
            "graceful_timeout": round(max(limits.deadline, limits.batch_deadline, limits.export_deadline))
            + GRACE_SECONDS,
            "keepalive": 5,
            # The worker limits the address: gunicorn's maximum of 8,190 bytes is too short for some scripts.
            "limit_request_line": 0,
            "limit_request_fields": 60,
            # ESR_PROXIES alone says who is trusted. By default gunicorn believes every client at localhost,
            # such as those behind a proxy on this machine, in what it says of the path and the scheme.
            "forwarded_allow_ips": "",
            "forwarder_headers": "",
            "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,
            "loglevel": "warning",
            "logger_class": _Log,
            "proc_name": "esr serve",
            "control_socket_disable": True,
            "when_ready": greet,
            "worker_exit": close_indexes,
            "child_exit": forget_worker,
        }
