"""Bulk requests: items are retried or reported as rejected, memory and requests are bounded."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from esr.elastic import requests
from esr.elastic.cluster import Cluster
from esr.elastic.connection import LOAD_TIMEOUT
from esr.elastic.write import actions, bulk
from esr.elastic.write.actions import DocumentActions, SentChunk, send_documents
from esr.elastic.write.bulk import RejectedItem, send_bulk
from esr.errors import EngineUnreachable
from esr.text.document import Document
from tests.support.web_servers import serving

pytestmark = pytest.mark.slow

OK, BUSY, BAD = 201, 429, 400


class Server(ThreadingHTTPServer):
    """Takes bulk requests as Elasticsearch does. `answers` gives a status for an item, or for all of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page_type = ""
        self.requests: list[list[str]] = []
        self.taken: list[str] = []
        self.answers: Any = lambda number, id: OK
        self.reason = "says {status}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        lines = self.rfile.read(int(self.headers["Content-Length"])).splitlines()
        document_ids = [json.loads(line)["index"]["_id"] for line in lines[::2]]
        number = len(self.server.requests)
        self.server.requests.append(document_ids)
        response_status = self.server.answers(number, None)
        if response_status is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        items = []
        for document_id in document_ids:
            status = self.server.answers(number, document_id)
            reason = self.server.reason.format(status=status)
            error = {} if status < 300 else {"error": {"type": "x", "reason": reason}}
            items.append({"index": {"_id": document_id, "_index": "i", "status": status, **error}})
            self.server.taken += [document_id] if status < 300 else []
        body = (
            {"errors": True, "items": items}
            if response_status == OK
            else {"error": {"reason": "full"}, "status": response_status}
        )
        data = json.dumps(body).encode()
        content_type = "application/json"
        if response_status != OK and self.server.page_type:
            data, content_type = b"<h1>Bad gateway</h1>", self.server.page_type
        self.send_response(200 if response_status == OK else response_status)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_PUT = do_POST

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server


@pytest.fixture
def cluster(server: Server) -> Iterator[Cluster]:
    cluster = Cluster(f"http://127.0.0.1:{server.server_address[1]}/news")
    yield cluster
    cluster.close()


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []
    monkeypatch.setattr("esr.elastic.requests.time.sleep", seconds.append)
    return seconds


def items(*names: str) -> list[dict[str, Any]]:
    return [{"_index": "i", "_id": name, "text": "A flood."} for name in names]


def test_only_items_that_met_an_overload_are_sent_again(cluster: Cluster, server: Server) -> None:
    server.answers = lambda number, id: BUSY if id == "b" and number < 2 else OK
    assert send_bulk(cluster, items("a", "b", "c")) == []
    assert server.requests == [["a", "b", "c"], ["b"], ["b"]]
    assert sorted(server.taken) == ["a", "b", "c"]


@pytest.mark.parametrize("response_status", [429, 502, 503, 504])
def test_a_request_that_met_an_overload_is_sent_again(
    cluster: Cluster, server: Server, waits: list[float], response_status: int
) -> None:
    server.answers = lambda number, id: response_status if id is None and number < 3 else OK
    assert send_bulk(cluster, items("a", "b")) == []
    assert server.requests[3:] == [["a", "b"]]
    for n, wait in enumerate(waits):
        assert 0.5 * 2**n / 2 <= wait <= 0.5 * 2**n


@pytest.mark.parametrize("page_type", ["text/html", "application/json"])
@pytest.mark.parametrize("response_status", [429, 502])
def test_a_request_that_a_proxy_answered_with_a_page_is_sent_again(
    cluster: Cluster, server: Server, page_type: str, response_status: int
) -> None:
    server.page_type = page_type
    server.answers = lambda number, id: response_status if id is None and number < 3 else OK
    assert send_bulk(cluster, items("a")) == []
    assert len(server.requests) == 4


@pytest.mark.parametrize("response_status", [429, 502])
def test_other_requests_of_a_writer_wait_for_a_proxy_that_starts_again(
    server: Server, waits: list[float], response_status: int
) -> None:
    server.page_type = "text/html"
    server.answers = lambda number, id: response_status if id is None and number < 10 else OK
    writer = Cluster(f"http://127.0.0.1:{server.server_address[1]}/news", LOAD_TIMEOUT)
    lines = [{"index": {"_index": "i", "_id": "a"}}, {"text": "A flood."}]
    writer.client.bulk(operations=lines)  # by the client, whose requests are all alike
    writer.close()
    assert len(server.requests) == 11 and len(waits) == 2


@pytest.mark.slow
def test_waits_are_never_the_same_for_two_workers(
    cluster: Cluster, server: Server, waits: list[float]
) -> None:
    server.answers = lambda number, id: BUSY if id is None and number % 2 == 0 else OK
    for _ in range(20):
        send_bulk(cluster, items("a"))
    assert len(set(waits)) == 20


def test_an_overload_that_lasts_is_an_error(cluster: Cluster, server: Server, waits: list[float]) -> None:
    server.answers = lambda number, id: 503 if id is None else OK
    with pytest.raises(EngineUnreachable, match="overloaded or not ready: full"):
        send_bulk(cluster, items("a"))
    assert len(server.requests) == bulk.MAX_ATTEMPTS
    assert max(waits) <= requests.LONGEST_WAIT


def test_a_request_that_lost_its_connection_is_sent_again(cluster: Cluster, server: Server) -> None:
    server.answers = lambda number, id: None if id is None and number == 0 else OK
    assert send_bulk(cluster, items("a")) == []
    assert server.taken == ["a"]


def test_a_rejected_item_is_returned_and_not_sent_again(cluster: Cluster, server: Server) -> None:
    server.answers = lambda number, id: BAD if id == "b" else OK
    assert send_bulk(cluster, items("a", "b")) == [RejectedItem("b", "says 400")]
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [BUSY, 403])
def test_an_index_that_accepts_no_writes_is_an_error_and_rejects_no_item(
    cluster: Cluster, server: Server, status: int
) -> None:
    server.answers = lambda number, id: status if id == "b" else OK
    with pytest.raises(EngineUnreachable, match=f"i accepts no writes: says {status}"):
        send_bulk(cluster, items("a", "b"))
    assert len(server.requests) == (1 if status == 403 else bulk.MAX_ATTEMPTS)


def test_what_met_a_full_disk_is_not_sent_again(cluster: Cluster, server: Server) -> None:
    server.answers = lambda number, id: BUSY if id == "b" else OK
    server.reason = "blocked by: disk usage exceeded flood-stage watermark"
    with pytest.raises(EngineUnreachable, match=r"i accepts no writes: .*its disk is full: free space"):
        send_bulk(cluster, items("a", "b"))
    assert len(server.requests) == 1


def test_what_met_an_overload_is_not_sent_again_once_the_load_is_stopped(
    cluster: Cluster, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM comes while a worker waits before it sends again."""
    monkeypatch.setattr(bulk, "FIRST_WAIT", 1000.0)
    server.answers = lambda number, id: BUSY

    def stop(number: int, _: object) -> None:
        sys.exit(143)

    handler = signal.signal(signal.SIGUSR1, stop)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        with pytest.raises(SystemExit):
            list(send_documents(cluster, document_actions(1), 1))
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, handler)
    assert len(server.requests) == 1


def test_requests_are_bounded_in_items_and_in_bytes(
    cluster: Cluster, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "REQUEST_ITEMS", 2)
    send_bulk(cluster, items("a", "b", "c"))
    monkeypatch.setattr(bulk, "REQUEST_BYTES", 10)
    send_bulk(cluster, items("d", "e"))
    assert server.requests == [["a", "b"], ["c"], ["d"], ["e"]]


def document_actions(count: int) -> Iterator[DocumentActions]:
    for n in range(count):
        (entry,) = items(f"d{n}")
        yield DocumentActions(Document(f"d{n}", ()), entry | {"context": "x"}, items(f"d{n}.s0", f"d{n}.s1"))


def test_a_document_follows_its_sentences_unless_one_is_rejected(
    cluster: Cluster, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleted: list[str] = []
    real = actions.send_bulk

    def record(cluster: Cluster, actions: Any) -> list[RejectedItem]:
        actions = list(actions)
        deleted.extend(a["_id"] for a in actions if a.get("_op_type") == "delete")
        return real(cluster, (a for a in actions if a.get("_op_type") != "delete"))

    monkeypatch.setattr(actions, "send_bulk", record)
    server.answers = lambda number, id: BAD if id in ("d1.s1", "d2") else OK
    (chunk,) = send_documents(cluster, document_actions(4), 1)
    assert [actions.document.id for actions in chunk.indexed] == ["d0", "d3"]
    assert [(actions.document.id, reason) for actions, reason in chunk.rejected] == [
        ("d1", "Elasticsearch rejected d1.s1: says 400"),
        ("d2", "Elasticsearch rejected d2: says 400"),
    ]
    assert server.requests == [[f"d{n}.s{m}" for n in range(4) for m in (0, 1)], ["d0", "d2", "d3"]]
    assert deleted == ["d1.s0", "d1.s1", "d2.s0", "d2.s1"]


def test_chunks_ahead_are_bounded_and_workers_share_them(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "CHUNK_SENTENCES", 2)
    built, greatest_ahead, threads = 0, 0, set()

    def count_built() -> Iterator[DocumentActions]:
        nonlocal built
        for of_document in document_actions(40):
            built += 1
            yield of_document

    barrier = threading.Barrier(2, timeout=60)

    def slow(cluster: Cluster, chunk: list[DocumentActions]) -> SentChunk:
        barrier.wait()  # two requests are in flight at once
        threads.add(threading.current_thread().name)
        return SentChunk(chunk)

    monkeypatch.setattr(actions, "send_chunk", slow)
    ids = []
    for chunk in send_documents(cluster, count_built(), 2):
        ids += [actions.document.id for actions in chunk.indexed]
        greatest_ahead = max(greatest_ahead, built - len(ids))
    assert ids == [f"d{n}" for n in range(40)], "in order"
    assert greatest_ahead <= 4 and len(threads) == 2
