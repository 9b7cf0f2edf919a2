"""A way to a real server on which requests go wrong: refused, lost, repeated, or done in part."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.simulation.steps import Disturbance

_OWN_HEADERS = {"connection", "host", "content-length", "accept-encoding", "transfer-encoding"}
"""What belongs to one connection, and is not passed on."""


class _Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class _Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def _uncompress(message: _Request | _Answer) -> bytes:
    """The body of a message."""
    is_compressed = message.headers.get("content-encoding") == "gzip"
    return gzip.decompress(message.body) if is_compressed else message.body


class Gateway:
    """Passes requests on to a server at `url`, and disturbs some while it is `disturbed`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = parts.hostname or "", parts.port or 9200
        self._disturbance: Disturbance | None = None
        self._lock = threading.Lock()
        self._requests = 0
        self._disturbed: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @contextmanager
    def disturbed(self, disturbance: Disturbance | None) -> Iterator[list[str]]:
        """Disturb the request of its number, counted from here. Yields the paths of disturbed requests."""
        self._requests, self._disturbance, self._disturbed = 0, disturbance, []
        try:
            yield self._disturbed
        finally:
            self._disturbance = None

    def answer(self, request: _Request) -> _Answer | None:
        """The answer to a request; None: the connection is cut without one."""
        with self._lock:
            self._requests += 1
            disturbance = self._disturbance
            number = self._requests
        if disturbance is None or not disturbance.concerns(number):
            return self._send(request)
        self._disturbed.append(request.path)
        match disturbance.kind:
            case "cut":
                return None
            case "busy":
                return _refuse(429, "es_rejected_execution_exception", "too many requests")
            case "unavailable":
                return _refuse(503, "cluster_block_exception", "state not recovered")
            case "lost":
                self._send(request)
                return None
            case "repeated":
                self._send(request)
                return self._send(request)
            case "part":
                if "_bulk" in request.path:
                    return self._leave_out_one_item(request)
                if request.path.partition("?")[0].endswith("search"):
                    return _lose_a_shard(self._send(request))
        return self._send(request)

    def _send(self, request: _Request) -> _Answer:
        with closing(http.client.HTTPConnection(*self._address, timeout=60)) as connection:
            connection.request(request.method, request.path, request.body or None, request.headers)
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return _Answer(answer.status, headers, answer.read())

    def _leave_out_one_item(self, request: _Request) -> _Answer:
        """The last item of a bulk request is rejected, as by a full queue of its shard."""
        lines = _uncompress(request).rstrip(b"\n").split(b"\n")
        last, verb, target = _find_last_item(lines)
        rejected = {"_index": target.get("_index", ""), "_id": target.get("_id", ""), "status": 429}
        rejected["error"] = {"type": "es_rejected_execution_exception", "reason": "the queue is full"}
        if last == 0:
            return _to_answer(200, {"took": 1, "errors": True, "items": [{verb: rejected}]})
        headers = {name: value for name, value in request.headers.items() if name != "content-encoding"}
        answer = self._send(request._replace(headers=headers, body=b"\n".join([*lines[:last], b""])))
        if answer.status != 200:
            return answer
        content = json.loads(_uncompress(answer))
        content["items"].append({verb: rejected})
        return _to_answer(200, {**content, "errors": True}, answer.headers)


def _find_last_item(lines: list[bytes]) -> tuple[int, str, dict[str, Any]]:
    """The number of the first line of the last item of a bulk request, what is done, and to what."""
    number = last = 0
    verb, target = "", dict[str, Any]()
    while number < len(lines):
        ((verb, target),) = json.loads(lines[number]).items()
        last, number = number, number + (1 if verb == "delete" else 2)
    return last, verb, target


def _lose_a_shard(answer: _Answer) -> _Answer:
    """The answer to a search without one shard: its hits are missing, and the answer says so."""
    if answer.status != 200:
        return answer
    content = json.loads(_uncompress(answer))
    for part in content.get("responses", [content]):
        shards = part.get("_shards")
        if not shards:
            continue
        failure = {"shard": 0, "reason": {"type": "node_not_connected_exception", "reason": "not connected"}}
        shards |= {"successful": shards["successful"] - 1, "failed": 1, "failures": [failure]}
        hits = part.get("hits", {}).get("hits", [])
        del hits[::2]
    return _to_answer(200, content, answer.headers)


def _refuse(status: int, kind: str, reason: str) -> _Answer:
    cause = {"type": kind, "reason": reason}
    return _to_answer(status, {"error": {"root_cause": [cause], **cause}, "status": status})


def _to_answer(status: int, content: Any, headers: dict[str, str] | None = None) -> _Answer:
    """An answer of the server with other content."""
    usual = {"x-elastic-product": "Elasticsearch", "content-type": "application/json"}
    kept = {name: value for name, value in (headers or usual).items() if name != "content-encoding"}
    return _Answer(status, kept, json.dumps(content).encode())


def _handler(gateway: Gateway) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            kept = {name: value for name, value in headers.items() if name not in _OWN_HEADERS}
            try:
                answer = gateway.answer(_Request(self.command, self.path, kept, self.rfile.read(length)))
            except OSError:  # the server is not there
                answer = None
            if answer is None:
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                if name not in _OWN_HEADERS:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = pass_on

        def log_message(self, format: str, *arguments: Any) -> None:
            """Tests print nothing."""

    return Handler
