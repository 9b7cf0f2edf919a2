"""gunicorn's worker as esr changes it: connections that are kept, reads in time, and answers in few pieces.

A message of the socket is one piece.
"""

from __future__ import annotations

import inspect
import io
import os
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, Timer
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http.body import LengthReader
from gunicorn.http.parser import Parser
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers import gthread
from gunicorn.workers.gthread import TConn, ThreadWorker

from tests.support.processes import wait_until
from webui.running import server
from webui.running.server import (
    ACCEPT_SECONDS,
    MAX_ACCEPT_SECONDS,
    MAX_JOINED,
    JoinedWrites,
    KeepaliveWorker,
    TimedReads,
)

LAST = b"."
"""The request after which a connection closes."""


class Connection:
    """A connection as gunicorn has it. Each byte is a request."""

    def __init__(self) -> None:
        self.sock, self.client = socket.socketpair()
        self.buffer = io.BytesIO()
        reads = TimedReads(self.sock, threading.BoundedSemaphore(1))
        self.parser = SimpleNamespace(unreader=SimpleNamespace(buf=self.buffer, sock=reads))
        self.answered = b""

    def init(self) -> None:
        pass

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None:
        self.sock.close()
        self.client.close()


@pytest.fixture
def connection() -> Iterator[Connection]:
    with Connection() as opened:
        yield opened


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> KeepaliveWorker:
    """A worker of two threads, of which one may wait for requests."""

    def begin(worker: Any, *args: Any, **settings: Any) -> None:
        worker.cfg, worker.alive = SimpleNamespace(threads=2), True

    def answer(worker: Any, conn: Connection) -> bool:
        buffered = conn.buffer.getvalue()
        conn.buffer.seek(0)
        conn.buffer.truncate()
        request = buffered or conn.sock.recv(1)
        conn.answered += request
        return request != LAST

    monkeypatch.setattr(ThreadWorker, "__init__", begin)
    monkeypatch.setattr(ThreadWorker, "handle", answer)
    return KeepaliveWorker()


def test_a_thread_answers_requests_as_long_as_they_come_at_once(
    worker: KeepaliveWorker, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LINGER_SECONDS", 30)

    def send() -> None:
        for request in (b"a", b"b", LAST):
            time.sleep(0.05)
            connection.client.sendall(request)

    thread = threading.Thread(target=send)
    thread.start()
    assert worker.handle(connection) is False
    thread.join()
    assert connection.answered == b"ab."


def test_a_connection_gives_way_to_others_after_some_requests(
    worker: KeepaliveWorker, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MAX_IN_A_ROW", 3)
    connection.client.sendall(b"abcd")
    assert worker.handle(connection) is True
    assert connection.answered == b"abc"


def test_a_connection_that_is_idle_is_given_back(worker: KeepaliveWorker, connection: Connection) -> None:
    connection.client.sendall(b"a")
    assert worker.handle(connection) is True
    assert connection.answered == b"a"


def test_only_half_of_the_threads_wait(
    worker: KeepaliveWorker, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LINGER_SECONDS", 60)
    with Connection() as other, ThreadPoolExecutor(2) as pool:
        connection.client.sendall(b"a")
        waiting = pool.submit(worker.handle, connection)
        wait_until(lambda: worker._lingering._value == 0)
        other.client.sendall(b"b")
        assert pool.submit(worker.handle, other).result(30) is True  # while the first one waits
        connection.client.sendall(LAST)
        assert waiting.result(30) is False
        other.client.sendall(b"c" + LAST)
        assert worker.handle(other) is False  # there is a place again


@pytest.mark.parametrize(
    ("workers", "connections", "waits"),
    [(2, 0, [0.0]), (2, 3, [3 * ACCEPT_SECONDS]), (2, 10_000, [MAX_ACCEPT_SECONDS]), (1, 3, [])],
)
def test_a_worker_leaves_new_connections_to_those_that_have_fewer(
    worker: KeepaliveWorker,
    monkeypatch: pytest.MonkeyPatch,
    workers: int,
    connections: int,
    waits: list[float],
) -> None:
    happened: list[object] = []
    monkeypatch.setattr(server, "time", SimpleNamespace(sleep=happened.append))
    monkeypatch.setattr(ThreadWorker, "accept", lambda worker, listener: happened.append(listener))
    worker.cfg.workers, worker.nr_conns = workers, connections
    worker.accept("listener")
    assert happened == [*waits, "listener"]


def test_a_request_that_was_read_with_the_one_before_is_answered(
    worker: KeepaliveWorker, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.client.sendall(b"a")
    answer = ThreadWorker.handle

    def read_ahead(worker: Any, conn: Connection) -> bool:
        result: bool = answer(worker, conn)
        if conn.answered == b"a":
            conn.buffer.write(LAST)
        return result

    monkeypatch.setattr(ThreadWorker, "handle", read_ahead)
    assert worker.handle(connection) is False
    assert connection.answered == b"a."


def test_a_worker_that_stops_waits_for_nothing(worker: KeepaliveWorker, connection: Connection) -> None:
    worker.alive = False
    connection.client.sendall(b"ab")
    assert worker.handle(connection) is True
    assert connection.answered == b"a"


@pytest.mark.parametrize("result", [False, None, (True, "connection"), object()])
def test_what_is_no_open_connection_is_passed_on(
    worker: KeepaliveWorker, connection: Connection, monkeypatch: pytest.MonkeyPatch, result: object
) -> None:
    """Other releases of gunicorn return other things."""
    monkeypatch.setattr(ThreadWorker, "handle", lambda worker, conn: result)
    connection.client.sendall(b"a")
    assert worker.handle(connection) is result


def test_the_parts_of_gunicorn_that_the_worker_uses_are_as_it_expects_them() -> None:
    """gunicorn does not promise these names. Look at each before you allow another release."""
    for name in ("get_thread_pool", "enqueue_req", "murder_keepalived", "accept", "handle", "handle_request"):
        assert callable(getattr(ThreadWorker, name)), name
        assert getattr(KeepaliveWorker, name) is not getattr(ThreadWorker, name)
    assert {"self", "conn"} <= inspect.signature(ThreadWorker.enqueue_req).parameters.keys()
    assert list(inspect.signature(ThreadWorker.handle_request).parameters) == ["self", "req", "conn"]
    parts = inspect.getsource(gthread)
    for attribute in (
        "self.poller",
        "self.nr_conns",
        "self.alive",
        "conn.parser",
        "conn.init()",
        "conn.sock",
    ):
        assert attribute in parts, attribute
    unreader = SocketUnreader(socket.socket())
    assert unreader.buf.getvalue() == b"" and isinstance(unreader.sock, socket.socket)
    unreader.sock.close()
    assert LengthReader(unreader, 3).length == 3
    assert "mesg" in vars(Parser(SimpleNamespace(is_ssl=False), iter([]), None))


App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
SIZE = 1 << 20


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The server's and the client's end."""
    server, client = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with server, client:
        client.setblocking(False)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 2, 0))
        yield server, client


def receive(client: socket.socket) -> list[bytes]:
    """The pieces that have come."""
    pieces = []
    try:
        while piece := client.recv(SIZE):
            pieces.append(piece)
    except BlockingIOError:
        pass
    return pieces


def answer_with(status: str, body: Iterable[bytes], *headers: tuple[str, str]) -> App:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response(status, list(headers))
        return body

    return app


class Server:
    """A worker that answers requests of one connection."""

    def __init__(self, app: App, sock: socket.socket) -> None:
        config = Config()
        self._worker = KeepaliveWorker(1, os.getppid(), [], SimpleNamespace(), 30, config, Logger(config))
        self._worker.tmp.close()
        self._worker.wsgi = app
        self._worker.alive = False  # it waits for no further request
        self._worker.max_keepalived = 1
        self.connection = TConn(config, sock, ("127.0.0.1", 1), ("127.0.0.1", 2))

    def answer(self) -> Any:
        return self._worker.handle(self.connection)


def ask(
    app: App, sockets: tuple[socket.socket, socket.socket], request: bytes = b"GET / HTTP/1.1"
) -> list[bytes]:
    """The pieces of an answer."""
    server, client = sockets
    client.sendall(request + b"\r\nHost: localhost\r\n\r\n")
    client.shutdown(socket.SHUT_WR)
    Server(app, server).answer()
    return receive(client)


def test_headers_come_with_the_body(sockets: tuple[socket.socket, socket.socket]) -> None:
    (piece,) = ask(answer_with("200 OK", [b"body"], ("Content-Length", "4")), sockets)
    assert piece.startswith(b"HTTP/1.1 200 OK\r\n") and piece.endswith(b"\r\n\r\nbody")


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("200 OK", b"HEAD / HTTP/1.1"),
        ("304 Not Modified", b"GET / HTTP/1.1"),
        ("204 No Content", b"GET / HTTP/1.1"),
    ],
)
def test_answers_without_a_body_come(
    sockets: tuple[socket.socket, socket.socket], status: str, line: bytes
) -> None:
    (piece,) = ask(answer_with(status, []), sockets, line)
    assert piece.startswith(f"HTTP/1.1 {status}\r\n".encode()) and piece.endswith(b"\r\n\r\n")


def test_an_answer_in_pieces_comes_piece_by_piece(sockets: tuple[socket.socket, socket.socket]) -> None:
    came: list[list[bytes]] = []

    def pieces() -> Iterator[bytes]:
        yield b"one"
        came.append(receive(sockets[1]))
        yield b"two"
        came.append(receive(sockets[1]))

    rest = ask(answer_with("200 OK", pieces()), sockets)
    (first,), (second,) = came
    assert first.startswith(b"HTTP/1.1 200 OK\r\n") and first.endswith(b"\r\n\r\n3\r\none\r\n")
    assert second == b"3\r\ntwo\r\n"
    assert rest == [b"0\r\n\r\n"]


def test_large_pieces_are_not_copied(sockets: tuple[socket.socket, socket.socket]) -> None:
    joined, body = JoinedWrites(sockets[0]), b"b" * (MAX_JOINED + 1)
    joined.sendall(b"headers")
    joined.sendall(body)
    assert receive(sockets[1]) == [b"headers", body]


def test_what_was_begun_is_sent_before_the_connection_closes(
    sockets: tuple[socket.socket, socket.socket],
) -> None:
    def fail() -> Iterator[bytes]:
        yield b""
        raise ValueError("an error after the headers")

    sent = ask(answer_with("200 OK", fail(), ("Content-Length", "4")), sockets)
    assert b"".join(sent).startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"500" not in b"".join(sent)


def test_an_error_before_the_headers_is_answered(sockets: tuple[socket.socket, socket.socket]) -> None:
    def fail(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        raise ValueError("an error before the headers")

    assert b"".join(ask(fail, sockets)).startswith(b"HTTP/1.1 500 Internal Server Error\r\n")


def test_a_file_comes_after_its_headers() -> None:
    server, client = socket.socketpair()
    with server, client, tempfile.TemporaryFile() as file:
        file.write(b"content")
        file.seek(0)

        def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            start_response("200 OK", [("Content-Length", "7")])
            wrapped: Iterable[bytes] = environ["wsgi.file_wrapper"](file)
            return wrapped

        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        Server(app, server).answer()
        server.shutdown(socket.SHUT_WR)
        pieces = b"".join(iter(lambda: client.recv(SIZE), b""))
        assert pieces.startswith(b"HTTP/1.1 200 OK\r\n") and pieces.endswith(b"\r\n\r\ncontent")


def test_continue_comes_before_the_body_of_a_request_is_read() -> None:
    server, client = socket.socketpair()
    with server, client:
        client.settimeout(5)

        def echo(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            assert client.recv(SIZE) == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.sendall(b"body")
            start_response("200 OK", [("Content-Length", "4")])
            return [environ["wsgi.input"].read()]

        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        client.sendall(head)
        Server(echo, server).answer()
        assert client.recv(SIZE).endswith(b"\r\n\r\nbody")


@pytest.mark.parametrize("body", [b"", b"unread"])
def test_a_connection_is_used_again_after_a_body_that_nobody_read(
    sockets: tuple[socket.socket, socket.socket], body: bytes
) -> None:
    server, client = sockets
    served = Server(answer_with("200 OK", [b"ok"], ("Content-Length", "2")), server)
    head = f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    served._worker.alive = True
    for _ in range(2):
        client.sendall(head)
        if body:
            client.sendall(body)
        assert served.answer() is True
        (piece,) = receive(client)
        assert piece.endswith(b"\r\n\r\nok")
        assert (served.connection.parser.mesg is None) == (not body)  # only a body has to be read up


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, client = socket.socketpair()
    with ours, client:
        yield ours, client


def test_what_comes_in_time_is_read(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, client = pair
    waiting = BoundedSemaphore(1)
    reads = TimedReads(ours, waiting)
    reads.begin(30, 100)
    client.sendall(b"at once")
    assert reads.recv(100) == b"at once"
    timer = Timer(0.05, client.sendall, [b"later"])
    timer.start()
    assert reads.recv(100) == b"later"
    timer.join()
    assert waiting.acquire(blocking=False)  # its place is free again
    assert not reads.has_expired


def test_what_does_not_come_in_time_is_given_up(pair: tuple[socket.socket, socket.socket]) -> None:
    reads = TimedReads(pair[0], BoundedSemaphore(1))
    reads.begin(0.01, 100)
    with pytest.raises(TimeoutError):
        reads.recv(100)
    assert reads.has_expired


def test_a_thread_without_a_place_does_not_wait(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, client = pair
    waiting = BoundedSemaphore(1)
    reads = TimedReads(ours, waiting)
    reads.begin(3_600, 100)
    with waiting:
        client.sendall(b"here")
        assert reads.recv(100) == b"here"
        with pytest.raises(TimeoutError):
            reads.recv(100)


def test_no_more_than_the_allowed_bytes_are_read(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, client = pair
    reads = TimedReads(ours, BoundedSemaphore(1))
    reads.begin(30, 5)
    client.sendall(b"0123456789")
    assert [reads.recv(3), reads.recv(3), reads.recv(3)] == [b"012", b"34", b""]
