"""Clients that send and read slowly, and requests that are open when the server ends or is reloaded."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from tests.support.processes import wait_until
from tests.support.running_servers import SERVE_MORE, Running, start_two

pytestmark = pytest.mark.slow
HALF_HEAD = b"GET /search.json?q=storm HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /api/v1/batch HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
HALF_BODY = POST + b"Content-Length: 99\r\n\r\n{"
UPLOAD = POST + b"Content-Length: 900000\r\n\r\n" + b"x" * 100_000
QUERIES = json.dumps({"queries": [{"id": "1", "query": "storm"}]}).encode()
MIB = 1 << 20
PIECES = "", "&pieces="
"""What follows a request for an answer that is sent whole, or in pieces."""


def receive_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(MIB), b""))


def request(path: str) -> bytes:
    return f"GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()


def assert_answers(server: Running) -> None:
    """The server answers each kind of request."""
    for path in ("healthz", "readyz", "metrics", "search.json?q=storm"):
        assert server.get(path)[0] == 200


def test_many_half_sent_requests_stop_no_other(start: Callable[..., Running]) -> None:
    """The rest of them is waited for longer than `get` waits for an answer."""
    server = start(ESR_ACCESS_LOG="0", ESR_THREADS="8", ESR_RECEIVE="300")
    for half in (b"", HALF_HEAD[:9], HALF_HEAD, HALF_BODY, UPLOAD):
        assert_not_stopped_by(half, server)


def assert_not_stopped_by(half: bytes, server: Running) -> None:
    """The server answers while many connections have sent this half of a request."""
    with ExitStack() as connections:
        for _ in range(40):
            connections.enter_context(server.connect()).sendall(half)
        assert_answers(server)
        late = connections.enter_context(server.connect())
        late.sendall(POST + f"Content-Length: {len(QUERIES)}\r\n\r\n".encode() + QUERIES[:5])
        assert server.get("healthz")[0] == 200
        late.sendall(QUERIES[5:])
        answer = receive_all(late)
        assert answer.startswith(b"HTTP/1.1 200") and b'"sentence_id":"a.s1"' in answer, half[:200]


def test_clients_that_do_not_read_stop_no_other(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0", ESR_THREADS="8", ESR_SEND="300")
    with ExitStack() as connections:
        for pieces in PIECES:
            for _ in range(35):
                connection = connections.enter_context(server.connect())
                connection.sendall(request(f"send?bytes={8 * MIB}{pieces}"))
        assert_answers(server)


def test_a_client_that_does_not_read_loses_its_connection(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0", ESR_SEND="0.5")
    for pieces in PIECES:
        wait_for_loss(server, pieces)
    assert server.stop() == ""


def wait_for_loss(server: Running, pieces: str) -> None:
    """Ask for an answer, read nothing of it, and wait until the server ends the connection."""
    with server.connect() as connection:
        connection.sendall(request(f"send?bytes={32 * MIB}{pieces}"))
        port = connection.getsockname()[1]
        wait_until(lambda: port in peers(server))
        wait_until(lambda: port not in peers(server))


def peers(server: Running) -> set[int]:
    """The ports from which clients are connected to the workers."""
    opened = [found for pid in server.workers() for found in psutil.Process(pid).net_connections("tcp")]
    return {found.raddr.port for found in opened if found.raddr}


def test_a_request_has_a_limited_time_to_arrive_in(start: Callable[..., Running]) -> None:
    server = start(ESR_ACCESS_LOG="0", ESR_RECEIVE="1")
    with server.connect() as head, server.connect() as body:
        head.sendall(HALF_HEAD)
        body.sendall(HALF_BODY)
        for answer in (receive_all(head), receive_all(body)):
            assert answer.startswith(b"HTTP/1.1 408")
            assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "timeout"
    with server.connect() as connection:  # what comes in pieces, but in time, is answered
        for piece in (HALF_HEAD[:3], HALF_HEAD[3:40], HALF_HEAD[40:], b"\r", b"\n"):
            connection.sendall(piece)
            time.sleep(0.05)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        connection.sendall(HALF_HEAD)  # the next head of a connection has a limited time too
        assert b"HTTP/1.1 408" in receive_all(connection)


def test_the_health_check_is_answered_while_all_threads_are_busy(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0", ESR_THREADS="4")
    with ExitStack() as connections:
        for _ in range(10):
            connections.enter_context(server.connect()).sendall(request("sleep?seconds=300"))
        assert server.get("healthz")[0] == 200


def test_a_request_for_which_no_thread_becomes_free_in_time_is_refused_and_counted(
    start: Callable[..., Running], tmp_path: Path
) -> None:
    """A page, an answer in JSON, and a file. Refusals are counted and logged as other answers are."""
    server, path = start(SERVE_MORE, ESR_THREADS="4", ESR_DEADLINE="0.5"), tmp_path / "ended"
    with ExitStack() as connections:
        held = [connections.enter_context(server.connect()) for _ in range(4)]
        for connection in held:
            connection.sendall(request(f"hold?until={path}"))
        wait_until(lambda: server.get("search.json?q=storm")[0] == 503)  # the first may overtake them
        page, answer, file = (ask(server, each) for each in ("search", "api/v1/search?q=x", "static/esr.css"))
        path.touch()
        assert [receive_all(connection)[:15] for connection in held] == [b"HTTP/1.1 200 OK"] * 4
    for refused in (page, answer, file):
        assert refused.startswith(b"HTTP/1.1 503") and b"\r\nretry-after: 5\r\n" in refused.lower()
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "busy"
    assert b"The server is busy</h" in page
    metrics = server.get("metrics")[1]
    assert 'esr_requests_total{route="api.search",status="503"} 1.0' in metrics
    lines = [json.loads(line) for line in server.stop().splitlines()]
    refused_at = [line["stages_ms"]["queue"] for line in lines if line.get("status") == 503]
    assert len(refused_at) >= 4 and min(refused_at) >= 400
    assert f'esr_errors_total{{code="busy"}} {len(refused_at)}.0' in metrics


def ask(server: Running, path: str) -> bytes:
    with server.connect() as connection:
        connection.sendall(request(path))
        return receive_all(connection)


def test_a_body_in_chunks_that_cannot_be_read_is_an_error_of_the_client(
    start: Callable[..., Running],
) -> None:
    server = start(ESR_ACCESS_LOG="0", ESR_BODY_BYTES="200000")
    too_long = b"1\r\n{\r\n" * 300_000 + b"0\r\n\r\n"
    for chunks, status in ((b"zz\r\n{", b"400"), (too_long, b"413")):
        with server.connect() as connection:
            connection.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
            with suppress(OSError):  # the server closes the connection
                connection.sendall(chunks)
            answer = receive_all(connection)
        assert answer.startswith(b"HTTP/1.1 " + status)
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]
    assert "Traceback" not in server.stop()


def test_the_client_is_told_to_send_a_body_that_it_announces(start: Callable[..., Running]) -> None:
    server = start(ESR_ACCESS_LOG="0")
    with server.connect() as connection:
        head = f"Content-Length: {len(QUERIES)}\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall(POST + head.encode())
        assert connection.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(QUERIES)
        assert receive_all(connection).startswith(b"HTTP/1.1 200")


# The end of the server


def test_an_open_request_is_answered_before_the_server_stops(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0")
    with server.connect() as connection, server.connect():  # the other one, which sends nothing, ends at once
        connection.sendall(request("sleep?seconds=3"))
        wait_until(lambda: server.in_flight() == 2)  # the request for the metrics is the other one
        server.process.send_signal(signal.SIGTERM)
        assert receive_all(connection).startswith(b"HTTP/1.1 200")
    assert server.process.wait(20) == 0


def test_a_large_answer_is_sent_to_its_end_before_the_server_stops(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0", ESR_SEND="300")
    with server.connect() as whole, server.connect() as in_pieces:
        both = whole, in_pieces
        for connection, pieces in zip(both, PIECES, strict=True):
            connection.sendall(request(f"send?bytes={80 * MIB}{pieces}"))
        begins = [connection.recv(65_536) for connection in both]
        server.process.send_signal(signal.SIGTERM)
        answers = [begin + receive_all(connection) for begin, connection in zip(begins, both, strict=True)]
    for answer in answers:
        assert answer.count(b"x" * 1024) == 80 * 1024 or answer.count(b"x") == 80 * MIB
    assert server.process.wait(20) == 0


def test_a_client_that_does_not_read_does_not_keep_the_server_from_stopping(
    start: Callable[..., Running],
) -> None:
    """`stop` waits for less than the 300 seconds."""
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0", ESR_SEND="300")
    with ExitStack() as connections:
        for pieces in PIECES * 3:
            connection = connections.enter_context(server.connect())
            connection.sendall(request(f"send?bytes={32 * MIB}{pieces}"))
            assert connection.recv(1)
        assert server.stop() == ""


# Requests that are sent without waiting for answers


def pipelined(path: str, number: int) -> bytes:
    return f"GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * number


def test_requests_sent_at_once_are_answered_in_order(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0")
    body = f"Content-Length: {len(QUERIES)}\r\n\r\n".encode() + QUERIES
    post = POST.replace(b"Connection: close\r\n", b"") + body
    with server.connect() as connection:
        sent = threading.Thread(
            target=connection.sendall, args=((pipelined("healthz", 300) + post) * 4 + request("nothing"),)
        )
        sent.start()
        answers = receive_all(connection)
        sent.join()
    statuses = re.findall(rb"HTTP/1\.1 (\d+) ", answers)
    answers_of_posts = answers.count(b'"sentence_id":"a.s1"')
    assert statuses == [b"200"] * (4 * 301) + [b"404"] and answers_of_posts == 4


def test_one_connection_has_one_request_in_work(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0", ESR_THREADS="4")
    with server.connect() as connection:
        connection.sendall(pipelined("sleep?seconds=300", 5_000))
        wait_until(lambda: server.in_flight() == 2)
        assert_answers(server)
        assert server.in_flight() == 2


def test_requests_that_wait_do_not_keep_the_server_from_stopping(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0")
    with server.connect() as connection:
        connection.sendall(pipelined("sleep?seconds=2", 5_000))
        wait_until(lambda: server.in_flight() == 2)
        server.process.send_signal(signal.SIGTERM)
        assert receive_all(connection).count(b"HTTP/1.1 200") == 1
    assert server.process.wait(20) == 0


def test_an_interrupt_ends_the_server_at_once(start: Callable[..., Running]) -> None:
    server = start(SERVE_MORE, ESR_ACCESS_LOG="0")
    with server.connect() as connection:
        connection.sendall(request("sleep?seconds=300"))
        wait_until(lambda: server.in_flight() == 2)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 0


def test_a_reload_loses_no_request(start: Callable[..., Running]) -> None:
    server = start_two(start)
    before, statuses, is_over = set(server.workers()), [], threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            statuses.append(server.get("healthz")[0])

    clients = [threading.Thread(target=ask) for _ in range(4)]
    for client in clients:
        client.start()
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(server.workers()) == 2 and not before & set(server.workers()))
    is_over.set()
    for client in clients:
        client.join()
    assert set(statuses) == {200}
    assert server.stop() == ""
