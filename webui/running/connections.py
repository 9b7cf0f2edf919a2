"""Connections of clients: how long a request and an answer may take, and which worker takes them.

uvicorn reads requests and sends answers on an event loop, so a slow client occupies no thread. It limits
neither the time nor the size of a head, nor the time in which a client reads an answer.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEADER_BYTES = 65_536
"""Maximum bytes of the headers of a request, in addition to its address."""
LINGER_SECONDS = 2.0
"""Seconds in which a client may read why its request was refused."""
END_SECONDS = 1.0
"""Seconds in which a worker that ends still takes a request of an open connection."""
STOP_SECONDS = 5.0
"""Seconds, at most, in which a client must read the next part of an answer once its worker ends."""
READ_AHEAD = 1 << 13
"""Bytes that are parsed at once. Those behind a request that waits for the one before it are parsed later."""

TIMEOUT = 408, "timeout", "The request did not arrive in time: send all of it at once."
TOO_LONG = 414, "address_too_long", "The address or its headers are too long: send less."
BROKEN = 400, "bad_request", "The request is broken."


def error_body(code: str, message: str) -> bytes:
    """An error in JSON, for requests that never reach the application."""
    return json.dumps({"error": {"code": code, "message": message, "field": None}}).encode() + b"\n"


class _HeldFlow(FlowControl):
    """Reads nothing while requests of the connection wait, although uvicorn reads on for each answer."""

    is_held = False

    def resume_reading(self) -> None:
        if not self.is_held:
            super().resume_reading()


class TimedProtocol(HttpToolsProtocol):
    """A connection whose client must send each head, and read each answer, within a limited time.

    One timer at a time runs for a connection: for the next head, or for what the client has not yet read.

    Of requests that are sent without waiting for answers (pipelining), one is in work, and few are parsed.
    """

    flow: _HeldFlow

    receive_seconds: ClassVar[float]
    send_seconds: ClassVar[float]
    head_bytes: ClassVar[int]

    @classmethod
    def limited(cls, receive_seconds: float, send_seconds: float, head_bytes: int) -> type[TimedProtocol]:
        """A subclass with these limits. uvicorn takes a class, since it creates a protocol per connection."""
        limits = {
            "receive_seconds": receive_seconds,
            "send_seconds": send_seconds,
            "head_bytes": head_bytes,
        }
        return type(cls.__name__, (cls,), limits)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None
        self._is_in_head = True
        self._is_refused = False
        self._is_ending = False
        self._is_stopping = False
        self._unparsed = b""
        self._in_work: RequestResponseCycle | None = None
        self._received = 0
        """Bytes of the head that is arriving."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _HeldFlow(transport)
        self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head_timer, self._send_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    # Requests

    def _time_head(self) -> None:
        self._head_timer = self.loop.call_later(self._limit(self.receive_seconds), self._end_late)

    def _limit(self, seconds: float) -> float:
        """The seconds, or fewer when the worker ends."""
        return min(seconds, STOP_SECONDS) if self._is_stopping else seconds

    def _end_late(self) -> None:
        """End a connection whose next head, or whose reading of the last answer, takes too long."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        elif self._received:
            self._refuse(*TIMEOUT)
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        self._unparsed += data
        self._parse()

    def _parse(self) -> None:
        """Parse what has arrived, up to a request that waits for the one before it."""
        while self._unparsed and not self.pipeline and not self.transport.is_closing():
            data, self._unparsed = self._unparsed[:READ_AHEAD], self._unparsed[READ_AHEAD:]
            if not self._is_refused:
                self._parse_part(data)
        self._hold()

    def _parse_part(self, data: bytes) -> None:
        if self._is_in_head:
            self._received += len(data)
        super().data_received(data)
        if self._is_in_head and self._received > self.head_bytes and not self._is_refused:
            self._refuse(*TOO_LONG)

    def _hold(self) -> None:
        """Read no more while a request waits."""
        is_held, self.flow.is_held = self.flow.is_held, bool(self.pipeline) and not self._is_refused
        if self.flow.is_held:
            self.flow.pause_reading()
        elif is_held and not self.transport.is_closing():
            self.flow.resume_reading()

    def on_headers_complete(self) -> None:
        self._is_in_head, self._received = False, 0
        if self._head_timer is not None:
            self._head_timer.cancel()
        super().on_headers_complete()
        if not self.pipeline:  # the request does not wait for another one
            self._in_work = self.cycle
        if self._is_ending:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._is_in_head = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(*BROKEN)

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Answer with an error and close the connection, once the client has read the answer.

        What the client still sends is read: without that, its system would throw the answer away.
        """
        self._is_refused = True
        body = error_body(code, message)
        headers = f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{headers}\r\n".encode() + body
        )
        self._linger(LINGER_SECONDS)

    def _linger(self, seconds: float) -> None:
        """Send nothing more, and close the connection when the client has had time to read."""
        self.transport.write_eof()
        if self._send_timer is not None:
            self._send_timer.cancel()
        self._send_timer = self.loop.call_later(seconds, self.transport.abort)

    def shutdown(self) -> None:
        """Close the connection when its request is answered, which its client may be sending already.

        Requests that wait for another one are not answered. A client that does not read has less time.
        """
        self._is_stopping = True
        if self._in_work is None or self._in_work.response_complete:
            self._is_ending = True
            self.loop.call_later(END_SECONDS, self._close)
        else:
            self._close()
        if self.flow.write_paused:
            self._time_reading()

    def _close(self) -> None:
        """Close the connection, after the answer in work if there is one."""
        are_more_sent = bool(self.pipeline or self._unparsed)
        self.pipeline.clear()
        self._unparsed = b""
        if self._in_work is None or self._in_work.response_complete:
            self.transport.close()
        elif are_more_sent:
            self._is_refused = True
            self._hold()
        else:
            self._in_work.keep_alive = False

    # Answers

    def on_response_complete(self) -> None:
        is_pipelined = bool(self.pipeline)
        if is_pipelined and not self.transport.is_closing():
            self._in_work = self.pipeline[-1][0]  # which uvicorn starts now
        super().on_response_complete()
        self._hold()
        if self._is_refused and not self.transport.is_closing():
            self._linger(STOP_SECONDS)
        elif not is_pipelined:
            self._time_head()
        if self._unparsed and not self.pipeline:
            self.loop.call_soon(self._parse)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._time_reading()

    def _time_reading(self) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
        self._send_timer = self.loop.call_later(self._limit(self.send_seconds), self.transport.abort)

    def resume_writing(self) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
        super().resume_writing()


ACCEPT_SECONDS, MAX_ACCEPT_SECONDS = 0.0002, 0.002
"""Seconds that a worker leaves a new connection to other workers: per connection it has, and at most."""


class SharedListener(socket.socket):
    """A listening socket that several workers share, which gives connections to those that have fewer.

    All workers wake up for a new connection, and an event loop accepts all that wait. Without the delay, and
    one connection at a time, one of two workers may get most of the clients, so that half of the processors
    are idle.
    """

    connections: set[Any] | frozenset[Any] = frozenset()
    """The open connections of this worker."""
    _has_accepted = False

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection. Every second call reports that none waits, so that others get a turn."""
        self._has_accepted = not self._has_accepted
        if not self._has_accepted:
            raise BlockingIOError
        time.sleep(min(len(self.connections) * ACCEPT_SECONDS, MAX_ACCEPT_SECONDS))
        try:
            return super().accept()
        except OSError:
            self._has_accepted = False
            raise
