"""Answers are sent in as few pieces as they have, and as they come. A message of the socket is one piece."""

from __future__ import annotations

import os
import socket
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import TConn

from webui.running.joined_writes import MAX_JOINED, JoinedWrites
from webui.running.keepalive_worker import KeepaliveWorker

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
