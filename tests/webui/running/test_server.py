"""The server as a process: its address and its settings, its workers, its limits and its traces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import psutil
import pytest

from esr.errors import EsrError, IndexMissing, UsageError
from tests.support.processes import wait_until
from tests.support.running_servers import ROOT, SERVE, SERVE_MORE, Running, start_two, stopped
from tests.support.runs import need
from tests.support.web_servers import serving
from webui import serve
from webui.running import traces
from webui.running.server import listen, url

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def test_a_port_in_use_is_one_clear_message() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EsrError, match=f"cannot serve at 127.0.0.1:{port}: address already in use"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "message"),
    [
        ("127.0.0.1", 70_000, "0 to 65535"),
        ("no.such.host.invalid", 8000, "unknown host"),
        ("192.0.2.1", 8000, "cannot serve at 192.0.2.1:8000"),
        ("a" * 80, 8000, "unknown host"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_clear_message(host: str, port: int, message: str) -> None:
    with pytest.raises(EsrError, match=message) as caught:
        listen(host, port)
    assert isinstance(caught.value, UsageError) == (port > 65_535)


def test_a_worker_imports_what_checks_bodies_before_one_comes() -> None:
    program = """
import sys, time
from webui.running.server import CHECKS_OF_BODIES, Server
from webui.running.settings import Settings
Server({"news": "nowhere"}, Settings(), 0, "", lambda indexes, settings: None).load()
ends = time.monotonic() + 60
while CHECKS_OF_BODIES not in sys.modules and time.monotonic() < ends:
    time.sleep(0.01)
print(CHECKS_OF_BODIES in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stdout == "True\n", ran.stderr


def test_the_address_is_printed_for_a_browser() -> None:
    with listen("127.0.0.1", 0) as four:
        assert url(four) == f"http://127.0.0.1:{four.getsockname()[1]}/"
    six: Any = SimpleNamespace(getsockname=lambda: ("::1", 8080, 0, 0))  # IPv6 may be off here
    assert url(six) == "http://[::1]:8080/"


def test_a_missing_index_is_reported_before_serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webui.running.server.Server.run", lambda server: None)
    with pytest.raises(IndexMissing):
        serve(str(tmp_path / "none"), "127.0.0.1", 0)


@pytest.mark.slow
def test_the_server_answers_and_stops_gracefully(start: Callable[..., Running]) -> None:
    server = start()
    assert json.loads(server.get("healthz")[1]) == {"status": "ok"}
    answer = json.loads(server.get("search.json?q=storm")[1])
    assert [hit["sentence_id"] for hit in answer["hits"]][:1] == ["a.s1"]
    assert "<mark>storms</mark>" in server.get("search?q=storm")[1]
    assert server.get("search.json?q=" + "x" * 9_000)[0] == 400
    lines = [json.loads(line) for line in server.stop().splitlines()]
    assert [line["path"] for line in lines if line["logger"] == "webui.access"] == [
        "/healthz",
        "/search.json",
        "/search",
        "/search.json",
    ]


@pytest.mark.slow
def test_a_query_in_any_script_may_be_as_long_as_one_in_latin_letters(start: Callable[..., Running]) -> None:
    server = start(ESR_ACCESS_LOG="0")
    for letter in ("ш", "中", "😀"):
        query = quote(f"storm {letter * 1_990}")
        status, text = server.get(f"search.json?q={query}&passages=no")
        assert (status, len(json.loads(text)["hits"])) == (200, 3)
        assert server.get(f"search?q={query}")[0] == 200


@pytest.mark.slow
def test_an_address_beyond_all_limits_is_an_error_in_json(start: Callable[..., Running]) -> None:
    server = start(ESR_ACCESS_LOG="0")
    status, text = server.get("search.json?q=" + "x" * 50_000)
    assert (status, "bytes of arguments" in text) == (400, True)
    status, text = server.get("search.json?q=" + "x" * 200_000)
    assert (status, json.loads(text)["error"]["code"]) == (414, "address_too_long")


@pytest.mark.slow
@pytest.mark.parametrize(
    "header",
    ["SCRIPT_NAME: /search.json", "SCRIPT_NAME: /x", "X-Forwarded-Proto: https\r\nX-Forwarded-Ssl: off"],
)
def test_headers_of_a_proxy_that_is_not_trusted_change_nothing(
    start: Callable[..., Running], header: str
) -> None:
    server = start(ESR_ACCESS_LOG="0")
    with server.connect() as connection:
        connection.sendall(
            f"GET /search.json?q=storm HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}\r\n\r\n".encode()
        )
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK") and b'"sentence_id":"a.s1"' in answer


@pytest.mark.slow
@pytest.mark.parametrize("step", ["_setproctitle", "set_owner_process"])
def test_a_worker_that_has_just_been_forked_ends_when_the_server_is_stopped(
    start: Callable[..., Running], step: str
) -> None:
    """Early and late in its start. gunicorn then waits two minutes for the worker."""
    slow = (
        f"import os, time; from gunicorn import util; server, step = os.getpid(), util.{step}; util.{step} = "
    )
    slow += "lambda *given, **named: (os.getpid() != server and time.sleep(2), step(*given, **named))"
    server = start(f"{slow}; {SERVE}")
    wait_until(lambda: len(server.workers()) == 1)
    server.stop()


KILLED_AT_ONCE = """
import os, signal, time
from webui.running.server import end_new_workers

signal.signal(signal.SIGTERM, lambda *_: None)
end_new_workers()
for _ in range(20):
    if not (pid := os.fork()):
        time.sleep(10)
        os._exit(1)
    os.kill(pid, signal.SIGTERM)
    assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
os.kill(os.getpid(), signal.SIGTERM)
print("alive")
"""


def test_a_signal_in_the_moment_of_a_fork_ends_the_worker_and_not_the_server() -> None:
    server = subprocess.run([sys.executable, "-c", KILLED_AT_ONCE], cwd=ROOT, capture_output=True, text=True)
    assert (server.stdout, server.stderr) == ("alive\n", "")


@pytest.mark.slow
def test_a_worker_that_dies_while_the_index_is_missing_is_replaced(start: Callable[..., Running]) -> None:
    server = start(ESR_ACCESS_LOG="0")
    assert server.get("search.json?q=storm")[0] == 200
    moved = server.where.rename(server.where.with_name("away"))
    (worker,) = server.workers()
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: server.workers() not in ([], [worker]))
    assert server.get("healthz")[0] == 200
    status, text = server.get("search.json?q=storm")
    assert (status, json.loads(text)["error"]["code"]) == (503, "index_missing")
    assert server.get("readyz")[0] == 503
    assert server.process.poll() is None
    moved.rename(server.where)
    assert server.get("readyz")[0] == 200
    assert server.get("search.json?q=storm")[0] == 200
    lines = [json.loads(line) for line in server.stop().splitlines()]
    assert any(f"(pid:{worker})" in line["message"] for line in lines if line["logger"] == "gunicorn.error")


@pytest.mark.slow
def test_the_metrics_of_several_workers_are_added_up(start: Callable[..., Running]) -> None:
    server = start_two(start)
    for worker in server.workers():
        with stopped(worker):
            for _ in range(15):
                assert server.get("search.json?q=storm")[0] == 200
    for _ in range(4):
        assert 'esr_requests_total{route="search_json",status="200"} 30.0' in server.get("metrics")[1]
    assert server.stop() == ""


@pytest.mark.slow
def test_connections_spread_over_the_workers(start: Callable[..., Running]) -> None:
    server = start_two(start)
    workers = server.workers()
    for worker in workers:
        with stopped(worker):
            assert server.get("healthz")[0] == 200  # the other one has begun
    owners: list[int] = []
    with ExitStack() as connections:
        for _ in range(16):
            connection = connections.enter_context(server.connect())
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
            port = connection.getsockname()[1]
            owners += [worker for worker in workers if port in peers(worker)]
    assert len(owners) == 16
    assert set(owners) == set(workers)
    server.stop()


def peers(process: int) -> set[int]:
    """The ports from which clients are connected to a process."""
    return {found.raddr.port for found in psutil.Process(process).net_connections("tcp") if found.raddr}


@pytest.mark.slow
def test_workers_count_the_requests_of_a_client_together(start: Callable[..., Running]) -> None:
    server = start_two(start, ESR_RATE="20/hour")
    statuses = []
    for worker in server.workers():
        with stopped(worker):
            statuses += [server.get("search.json?q=storm")[0] for _ in range(15)]
    assert statuses == [200] * 20 + [429] * 10
    assert server.stop() == ""


@pytest.mark.slow
def test_a_dead_worker_leaves_its_counts_and_no_requests_in_flight(
    start: Callable[..., Running],
) -> None:
    server = start_two(start, SERVE_MORE)
    for _ in range(10):
        assert server.get("search.json?q=storm")[0] == 200
    with ExitStack() as connections:
        for _ in range(6):
            hanging = connections.enter_context(server.connect())
            hanging.sendall(b"GET /sleep?seconds=300 HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until(lambda: server.in_flight() == 7)  # /metrics is one itself
        dying = server.workers()
        for worker in dying:
            os.kill(worker, signal.SIGKILL)
        wait_until(lambda: len(server.workers()) == 2 and not set(dying) & set(server.workers()))
    wait_until(lambda: server.in_flight() == 1)
    assert 'esr_requests_total{route="search_json",status="200"} 10.0' in server.get("metrics")[1]


@pytest.mark.slow
def test_the_metrics_folder_is_deleted_with_the_server(start: Callable[..., Running], tmp_path: Path) -> None:
    server = start(ESR_WORKERS="2", ESR_ACCESS_LOG="0", ESR_RATE="9/hour", TMPDIR=str(tmp_path))
    assert server.get("search.json?q=storm")[0] == 200
    assert list(tmp_path.glob("esr-serve-*/rates.sqlite"))
    assert list(tmp_path.glob("esr-serve-*/metrics/*.db"))
    server.stop()
    assert not list(tmp_path.glob("esr-serve-*"))


def test_the_server_starts_even_if_the_engine_is_unreachable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[object] = []
    monkeypatch.setattr("webui.running.server.Server.run", lambda server: ran.append(server))
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    serve(f"http://127.0.0.1:{port}/news", "127.0.0.1", 0)
    assert len(ran) == 1
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert "cannot reach Elasticsearch" in lines[-1]["message"]


def test_a_bad_setting_is_reported_before_serving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("webui.running.server.Server.run", lambda server: pytest.fail("it was served"))
    for variable, value in (("ESR_RATE", "often"), ("ESR_THREADS", "x"), ("ESR_DEADLINE", "-1")):
        with monkeypatch.context() as patch:
            patch.setenv(variable, value)
            with pytest.raises(UsageError, match=variable):
                serve(str(tmp_path / "none"), "127.0.0.1", 0)


# Traces


@contextmanager
def collecting() -> Iterator[tuple[str, list[Any]]]:
    """The address of a collector of OpenTelemetry, and the requests with spans that it gets."""
    need("opentelemetry.sdk")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    got: list[Any] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Collector)) as server:
        yield f"http://127.0.0.1:{server.server_port}", got


def spans(got: list[Any]) -> dict[str, Any]:
    """The spans by name."""
    parts = [part for request in got for each in request.resource_spans for part in each.scope_spans]
    return {span.name: span for part in parts for span in part.spans}


@pytest.mark.slow
@pytest.mark.parametrize("is_logged", [False, True])
def test_a_request_and_its_search_are_traced_and_the_query_only_if_it_is_logged(
    start: Callable[..., Running], tmp_path: Path, is_logged: bool
) -> None:
    log = {"ESR_QUERY_LOG": str(tmp_path / "queries")} if is_logged else {}
    with collecting() as (address, got):
        server = start(OTEL_EXPORTER_OTLP_ENDPOINT=address, OTEL_SERVICE_NAME="archive", **log)
        parent = f"00-{7:032x}-{9:016x}-01"
        for path in ("search.json?q=storms&source=", "document/none?q=storms", "healthz"):
            asked = urllib.request.Request(server.address + path, headers={"traceparent": parent})
            with suppress(urllib.error.HTTPError):
                urllib.request.urlopen(asked, timeout=60).close()
        server.stop()  # sends what is left
    found = spans(got)
    request = found["GET /search.json"]
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (f"{7:032x}", f"{9:016x}")
    search = found["esr.search"]
    assert search.parent_span_id == request.span_id and search.trace_id == request.trace_id
    attributes = {each.key: each.value for each in request.attributes}
    assert attributes["http.response.status_code"].int_value == 200
    assert attributes["http.route"].string_value == "/search.json"
    (event,) = request.events
    assert {each.key: each.value.int_value for each in event.attributes}["esr.hits"] == 3
    assert not any("health" in name for name in found)
    assert any(b"archive" in request.SerializeToString() for request in got)
    assert any(b"storms" in request.SerializeToString() for request in got) == is_logged


def test_settings_of_traces_that_cannot_be_kept_are_reported_before_serving() -> None:
    here = "http://127.0.0.1:4318"
    assert not traces.wants_traces({}) and not traces.wants_traces(
        {"OTEL_TRACES_EXPORTER": "none", ENDPOINT: here}
    )
    assert not traces.wants_traces({"OTEL_SDK_DISABLED": "TRUE", ENDPOINT: here})
    assert traces.wants_traces({ENDPOINT: here}) and traces.wants_traces({"OTEL_TRACES_EXPORTER": "otlp"})
    with pytest.raises(UsageError, match="traces by http/protobuf only, not by 'grpc'"):
        traces.check_traces({ENDPOINT: here, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
    with pytest.raises(UsageError, match="OTEL_TRACES_EXPORTER is otlp or none, not 'zipkin'"):
        traces.check_traces({"OTEL_TRACES_EXPORTER": "zipkin"})
