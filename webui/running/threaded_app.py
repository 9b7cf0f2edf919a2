"""The Flask application on an event loop: requests are answered by threads, which wait for no client.

A thread gets a request when all of it has arrived. What it answers is sent by the event loop. The thread of
an answer in pieces is free while a client reads a piece.
"""

from __future__ import annotations

import asyncio
import io
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote_to_bytes

from esr.errors import EsrError
from webui.running.connections import TIMEOUT, TOO_LONG, error_body
from webui.running.gate import NO_THREAD, WAITED

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

Message = Mapping[str, Any]
"""An event of the interface of asynchronous servers (ASGI)."""
Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_LOG = logging.getLogger(__name__)
_WITHOUT_PREFIX = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH"})

HEALTH_PATH = "/healthz"
"""The address that has a thread of its own."""
PIECE = 1 << 16
"""Bytes that are sent before the client must have read those before."""
_SKIPPED_BODIES = 16
"""How many times the maximum size of a body is read, and thrown away: a client that is still sending reads no
answer."""


class Limits(NamedTuple):
    """The limits of a request. `head_bytes` and `body_bytes` are maxima.

    `wait_seconds`: how long it waits for a thread.
    """

    threads: int
    receive_seconds: float
    wait_seconds: float
    head_bytes: int
    body_bytes: int


class Answer:
    """The answer of a WSGI application: its status, its headers, and its pieces.

    Its pieces may be read by one thread after another. All see the same context variables, such as Flask's.
    """

    def __init__(self, app: WSGIApplication, environ: WSGIEnvironment) -> None:
        self.status = 500
        self.headers: list[tuple[bytes, bytes]] = []
        self._context = Context()
        self._body: Iterable[bytes] = self._context.run(app, environ, self._start)
        self._pieces: Iterator[bytes] = iter(self._body)
        self._is_closed = False

    def _start(self, status: str, headers: list[tuple[str, str]], *error: Any) -> Callable[[bytes], object]:
        self.status = int(status[:3])
        self.headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        return _write

    def read(self) -> tuple[bytes, bool]:
        """The next bytes, at least PIECE of them if there are as many, and whether there may be more.

        The answer is closed at its end.
        """
        piece, has_more = self._context.run(self._read)
        if not has_more:
            self.close()
        return piece, has_more

    def _read(self) -> tuple[bytes, bool]:
        pieces: list[bytes] = []
        size = 0
        for piece in self._pieces:
            pieces.append(piece)
            size += len(piece)
            if size >= PIECE:
                break
        return pieces[0] if len(pieces) == 1 else b"".join(pieces), size >= PIECE

    def close(self) -> None:
        if not self._is_closed and hasattr(self._body, "close"):
            self._is_closed = True
            self._context.run(self._body.close)


def _write(data: bytes) -> None:
    raise NotImplementedError("the application returns its body")


class ThreadedApp:
    """An ASGI application that answers by a WSGI application, in threads.

    Health checks have a separate thread, so that they never wait for other requests. Requests for which no
    thread becomes free in time have one too: the application refuses them, as NO_THREAD tells it to.
    """

    def __init__(self, app: WSGIApplication, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, "request")
        self._health_checks = ThreadPoolExecutor(1, "health")
        self._refusals = ThreadPoolExecutor(1, "refusal")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        environ, head_bytes = make_environ(scope)
        if head_bytes > self._limits.head_bytes:
            await _refuse(send, *TOO_LONG)
            return
        try:
            async with asyncio.timeout(self._limits.receive_seconds):
                body = await self._receive_body(receive, environ)
        except TimeoutError:
            await _refuse(send, *TIMEOUT)
            return
        if body is not None:
            environ["wsgi.input"] = io.BytesIO(body)
            if environ.pop("HTTP_TRANSFER_ENCODING", None):  # now the length is known
                environ["CONTENT_LENGTH"] = str(len(body))
            await self._answer(environ, receive, send)

    async def _receive_body(self, receive: Receive, environ: WSGIEnvironment) -> bytes | None:
        """The body, cut off behind its maximum size, or None if the client has gone."""
        body, size, has_more = bytearray(), 0, True
        while has_more and size <= _SKIPPED_BODIES * self._limits.body_bytes:
            message = await receive()
            if message["type"] != "http.request":
                return None
            piece = message.get("body", b"")
            size += len(piece)
            body += piece[: self._limits.body_bytes + 1 - len(body)]
            has_more = message.get("more_body", False)
        return bytes(body)

    async def _answer(self, environ: WSGIEnvironment, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        threads = self._health_checks if environ["PATH_INFO"] == HEALTH_PATH else self._threads
        answer, piece, has_more = await self._begin_in_time(environ, threads)
        leaving: asyncio.Future[Any] | None = None
        try:
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            while has_more:
                await _send_pieces(send, piece)
                # Ends when the client goes. Most answers have one piece, and do without it.
                leaving = leaving or asyncio.ensure_future(receive())
                piece, has_more = await loop.run_in_executor(threads, answer.read)
                if leaving.done():
                    return
            if len(piece) > PIECE:
                await _send_pieces(send, piece)
                piece = b""
            await send({"type": "http.response.body", "body": piece, "more_body": False})
        except Exception as error:  # the client must not take a part for the whole
            _LOG.error("an answer was cut off: %s", error, exc_info=not isinstance(error, EsrError))
        finally:
            if leaving is not None:
                leaving.cancel()
            if has_more:
                await loop.run_in_executor(threads, answer.close)

    async def _begin_in_time(
        self, environ: WSGIEnvironment, threads: ThreadPoolExecutor
    ) -> tuple[Answer, bytes, bool]:
        """Begin an answer in one of the threads, or a refusal if none is free in time."""
        arrived = time.monotonic()
        begun = threads.submit(self._begin, environ, arrived)
        beginning = asyncio.wrap_future(begun)
        if threads is self._threads:
            await asyncio.wait([beginning], timeout=self._limits.wait_seconds)
            if begun.cancel():  # no thread has taken it
                late = {**environ, NO_THREAD: True}
                environ.clear()  # the pool keeps it until a thread is free
                beginning = asyncio.wrap_future(self._refusals.submit(self._begin, late, arrived))
        return await beginning

    def _begin(self, environ: WSGIEnvironment, arrived: float) -> tuple[Answer, bytes, bool]:
        """Begin an answer to a request that arrived at this time of `time.monotonic`. Runs in a thread."""
        environ[WAITED] = time.monotonic() - arrived
        answer = Answer(self._app, environ)
        try:
            return answer, *answer.read()
        except BaseException:
            answer.close()
            raise


async def _send_pieces(send: Send, data: bytes) -> None:
    """Send data, as fast as the client reads it."""
    for start in range(0, len(data), PIECE):
        await send({"type": "http.response.body", "body": data[start : start + PIECE], "more_body": True})


async def _refuse(send: Send, status: int, code: str, message: str) -> None:
    body = error_body(code, message)
    headers = [
        (b"connection", b"close"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def make_environ(scope: Scope) -> tuple[WSGIEnvironment, int]:
    """The environment of a request for WSGI, without its body, and the bytes of its head.

    Headers with an underscore are left out, since WSGI cannot tell them from those with a hyphen that a proxy
    sets.
    """
    path, query = scope["raw_path"], scope["query_string"]
    server, client = scope["server"] or ("", None), scope["client"] or ("", 0)
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query.decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
    }
    size = len(path) + len(query)
    for name_bytes, value_bytes in scope["headers"]:
        size += len(name_bytes) + len(value_bytes)
        if b"_" in name_bytes:
            continue
        name, value = name_bytes.decode("latin-1").upper().replace("-", "_"), value_bytes.decode("latin-1")
        if name not in _WITHOUT_PREFIX:
            name = f"HTTP_{name}"
        if name in environ:
            value = f"{environ[name]}{'; ' if name == 'HTTP_COOKIE' else ','}{value}"
        environ[name] = value
    return environ, size
