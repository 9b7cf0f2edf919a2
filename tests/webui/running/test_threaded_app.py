"""Answers of a WSGI application on an event loop."""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask, Response, request, stream_with_context

from esr.errors import EngineUnreachable
from webui.running.gate import NO_THREAD
from webui.running.threaded_app import PIECE, Limits, ThreadedApp, make_environ

SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "raw_path": b"/a%C3%A4",
    "query_string": b"q=1",
    "headers": [],
    "server": ("localhost", 80),
    "client": ("192.0.2.1", 5),
    "http_version": "1.1",
}


def ask(app: Any, *body: bytes, leaves: bool = False, **scope: Any) -> list[Any]:
    """The messages of an answer. The client that `leaves` does so when the answer begins."""
    sent: list[Any] = []
    parts = [
        {"type": "http.request", "body": part, "more_body": number < len(body)}
        for number, part in enumerate(body or (b"",), 1)
    ]

    async def receive() -> Any:
        if parts:
            return parts.pop(0)
        if not leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        await asyncio.sleep(0)

    threaded = ThreadedApp(app, Limits(2, 5.0, 5.0, 1_000, 100))
    answer = threaded({**SCOPE, **scope}, receive, send)  # type: ignore[arg-type]
    with ThreadPoolExecutor(1) as thread:  # a test in a browser may have left a loop running in this one
        thread.submit(asyncio.run, answer).result()
    return sent


def echo(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("200 OK", [("X-Length", environ.get("CONTENT_LENGTH", "none"))])
    return [environ["wsgi.input"].read()]


def test_a_request_reaches_the_application_with_its_whole_body() -> None:
    start, body = ask(echo, b"one ", b"two")
    assert (start["status"], body["body"], body["more_body"]) == (200, b"one two", False)


def test_a_body_in_chunks_gets_its_length() -> None:
    start, _ = ask(echo, b"one ", b"two", headers=[(b"transfer-encoding", b"chunked")])
    assert start["headers"] == [(b"x-length", b"7")]


def test_no_more_of_a_body_is_kept_than_is_allowed_and_one_byte() -> None:
    _, body = ask(echo, *[b"x" * 60] * 5)
    assert body["body"] == b"x" * 101


def test_a_head_that_is_too_long_is_refused() -> None:
    start, body = ask(echo, headers=[(b"x-y", b"z" * 1_000)])
    assert start["status"] == 414 and b"address_too_long" in body["body"]


def test_headers_with_an_underscore_are_left_out_and_repeated_ones_joined() -> None:
    headers = [(b"x_forwarded_for", b"1"), (b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"accept", b"x")]
    environ, _ = make_environ({**SCOPE, "headers": [*headers, (b"accept", b"y")]})  # type: ignore[typeddict-item]
    assert "HTTP_X_FORWARDED_FOR" not in environ
    assert (environ["HTTP_COOKIE"], environ["HTTP_ACCEPT"]) == ("a=1; b=2", "x,y")
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/aä"


def test_a_request_without_a_free_thread_is_given_to_the_application_to_refuse() -> None:
    """Also if many wait: each has the same time. What they sent is not kept until a thread is free."""
    free = threading.Event()
    kept: list[weakref.ref[Any]] = []

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if NO_THREAD in environ:
            kept.append(weakref.ref(environ["wsgi.input"]))
            start_response("503 Busy", [])
        else:
            free.wait()
            start_response("200 OK", [])
        return [b""]

    app = ThreadedApp(answer, Limits(2, 5.0, 0.1, 1_000, 100))

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x"}

    async def status() -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await app(SCOPE, receive, send)
        return int(sent[0]["status"])

    async def ask_all() -> list[int]:
        slow = [asyncio.create_task(status()) for _ in range(2)]
        await asyncio.sleep(0)
        refused = await asyncio.gather(*(status() for _ in range(5)))
        assert [reference() for reference in kept] == [None] * 5
        free.set()
        return [*refused, *[await each for each in slow], await status()]

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, ask_all()).result() == [503] * 5 + [200] * 3


def stream(pieces: Iterable[bytes], closed: list[bool]) -> Flask:
    """An application whose answer needs the request to its end."""
    app = Flask(__name__)

    @app.get("/aä")
    def answer() -> Response:
        @stream_with_context
        def write() -> Iterator[bytes]:
            for piece in pieces:
                assert request.args["q"] == "1"
                yield piece

        response = Response(write())
        response.call_on_close(lambda: closed.append(True))
        return response

    return app


def test_an_answer_in_pieces_is_sent_and_closed_once() -> None:
    closed: list[bool] = []
    start, *pieces = ask(stream([b"x" * PIECE] * 3 + [b"end"], closed))
    assert start["status"] == 200 and closed == [True]
    assert b"".join(piece["body"] for piece in pieces) == b"x" * PIECE * 3 + b"end"
    assert [piece["more_body"] for piece in pieces] == [True] * 3 + [False]


def test_an_answer_that_fails_is_cut_off_and_not_ended(caplog: pytest.LogCaptureFixture) -> None:
    closed: list[bool] = []

    def fail() -> Iterator[bytes]:
        yield b"x" * PIECE
        raise EngineUnreachable("the engine is away")

    with caplog.at_level(logging.ERROR):
        *_, last = ask(stream(fail(), closed))
    assert last["more_body"] is True and closed
    assert "cut off: the engine is away" in caplog.text and "Traceback" not in caplog.text


def test_nothing_more_is_computed_for_a_client_that_has_gone() -> None:
    closed: list[bool] = []
    written: list[int] = []

    def count() -> Iterator[bytes]:
        for number in range(1_000):
            written.append(number)
            yield b"x" * PIECE

    ask(stream(count(), closed), leaves=True)
    assert len(written) < 10 and closed == [True]
