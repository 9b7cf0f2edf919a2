from __future__ import annotations

import inspect
import io
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.http.body import LengthReader
from gunicorn.http.parser import Parser
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers import gthread
from gunicorn.workers.gthread import ThreadWorker

from tests.support.processes import wait_until
from webui.running import server
from webui.running.server import ACCEPT_SECONDS, MAX_ACCEPT_SECONDS, KeepaliveWorker, TimedReads

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
