"""An older server gets requests that it understands."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from esr.engines.elasticsearch.cluster.cluster import Cluster

REFUSED = {"error": {"type": "media_type_header_exception", "reason": "Invalid media-type"}, "status": 400}
NEWER, PLAIN = "application/vnd.elasticsearch+json; compatible-with=9", "application/json"


class Server(ThreadingHTTPServer):
    """Notes the media types that it is asked for and sent, and knows only some of them."""

    known: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.sent: list[str | None] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(self.headers["Accept"])
        self.server.sent.append(self.headers.get("Content-Type"))
        is_known = self.headers["Accept"] in self.server.known
        text = json.dumps({"version": {"number": "8.19.14"}} if is_known else REFUSED).encode()
        self.send_response(200 if is_known else 400)
        for name, value in (("X-elastic-product", "Elasticsearch"), ("Content-Type", PLAIN)):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_server_is_asked_once_for_a_form_that_it_does_not_have(server: Server) -> None:
    server.known = (PLAIN,)
    with closing(Cluster(f"http://127.0.0.1:{server.server_address[1]}/news")) as cluster:
        assert cluster.version() == (8, 19)
        cluster.client.search(index="news", query={"match_all": {}})
        cluster.client.bulk(operations=[{"delete": {"_id": "1"}}], index="news")
    assert server.asked == [NEWER, PLAIN, PLAIN, PLAIN]
    assert server.sent[2:] == ["application/json", "application/x-ndjson"]


def test_a_server_of_the_clients_version_is_asked_for_its_form(server: Server) -> None:
    server.known = (NEWER,)
    with closing(Cluster(f"http://127.0.0.1:{server.server_address[1]}/news")) as cluster:
        cluster.version()
        cluster.client.search(index="news", query={"match_all": {}})
    assert server.asked == [NEWER, NEWER]
