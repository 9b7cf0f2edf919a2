"""Telemetry of requests: metrics for Prometheus, the access log, and the log of queries.

With several workers, prometheus_client adds up the counts that they write to a shared folder. It looks for
the folder when it is first imported, so `shared_folder` must be entered before.

Queries are private. They are written to a file only if `ESR_QUERY_LOG` names the
file. Only its owner may read it.
"""

from __future__ import annotations

import logging
import os
import random
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from flask import Flask, Response, current_app, g, has_request_context, request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

from esr.errors import EsrError
from webui.running import traces
from webui.running.gate import QUEUE, WAITED, stage_times
from webui.running.logs import log_event, write_json
from webui.running.settings import COUNTS_FOLDER, Settings

_REGISTRY = CollectorRegistry()
_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUESTS = Counter("esr_requests", "Requests that were answered.", ("route", "status"), registry=_REGISTRY)
ERRORS = Counter("esr_errors", "Errors that were answered, by code.", ("code",), registry=_REGISTRY)
LATENCY = Histogram(
    "esr_request_seconds", "Seconds for a request.", ("route",), buckets=_SECONDS, registry=_REGISTRY
)
STAGES = Histogram(
    "esr_stage_seconds",
    "Seconds of a request that went to a stage: queue, open, a question to the engine, the rest.",
    ("stage",),
    buckets=_SECONDS,
    registry=_REGISTRY,
)
SEARCHES = Counter("esr_searches", "Queries that were ranked.", ("index",), registry=_REGISTRY)
WITHOUT_HITS = Counter(
    "esr_searches_without_hits", "Queries that no sentence answers.", ("index",), registry=_REGISTRY
)
IN_FLIGHT = Gauge(
    "esr_requests_in_flight",
    "Requests that are being answered.",
    registry=_REGISTRY,
    multiprocess_mode="livesum",
)


def count_request(route: str, status: int, seconds: float, stages: Mapping[str, float]) -> None:
    """Count an answered request, and observe its seconds in total and by stage."""
    _requests(route, status).inc()
    _latency(route).observe(seconds)
    for stage, part in stages.items():
        _stage(stage).observe(part)


# Looking up a metric by its labels takes as long as counting, so the few metrics are cached.
@cache
def _requests(route: str, status: int) -> Counter:
    return REQUESTS.labels(route, str(status))


@cache
def _latency(route: str) -> Histogram:
    return LATENCY.labels(route)


@cache
def _stage(name: str) -> Histogram:
    return STAGES.labels(name)


class Served(NamedTuple):
    """The generation of an index that is served, and when it was made, in seconds since 1970 or None."""

    name: str
    documents: int
    sentences: int
    since: float | None


def expose(indexes: Iterable[Served] = ()) -> bytes:
    """All metrics of all workers and of these indexes, in Prometheus' text format."""
    registry = _REGISTRY
    if COUNTS_FOLDER in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry) + generate_latest(_gauges(indexes))


def _gauges(indexes: Iterable[Served]) -> CollectorRegistry:
    """The sizes of the indexes, read at each scrape."""
    registry = CollectorRegistry()
    documents = Gauge("esr_index_documents", "Documents that are served.", ("index",), registry=registry)
    sentences = Gauge("esr_index_sentences", "Sentences that are served.", ("index",), registry=registry)
    created = Gauge(
        "esr_index_made_timestamp_seconds",
        "When the served generation was made, in seconds since 1970.",
        ("index",),
        registry=registry,
    )
    for index in indexes:
        documents.labels(index.name).set(index.documents)
        sentences.labels(index.name).set(index.sentences)
        if index.since is not None:
            created.labels(index.name).set(index.since)
    return registry


REQUEST_ID = "X-Request-Id"
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_PATH_CHARS = 200
ACCESS_LOG = logging.getLogger("webui.access")


def install_access_log(app: Flask, settings: Settings) -> None:
    """Identify, time, count and log the requests of the application."""

    @app.before_request
    def begin() -> None:
        client_id = request.headers.get(REQUEST_ID, "")
        g.request_id = client_id if _ID.fullmatch(client_id) else f"{random.getrandbits(128):032x}"
        waited = request.environ.get(WAITED)
        if waited is not None:
            g.stage_seconds = {QUEUE: waited}
        g.started = time.perf_counter() - (waited or 0.0)
        g.is_in_flight = True
        IN_FLIGHT.inc()

    @app.after_request
    def end(response: Response) -> Response:
        seconds = time.perf_counter() - g.get("started", time.perf_counter())
        route = request.endpoint or "none"
        response.headers[REQUEST_ID] = g.get("request_id", "")
        stages = stage_times(seconds)
        count_request(route, response.status_code, seconds, stages)
        if settings.access_log:
            # Queries are private: the address is logged without its arguments.
            fields = {
                "method": request.method,
                "path": request.path[:_PATH_CHARS],
                "status": response.status_code,
                # The length of an answer in pieces is known only when all of it has been made.
                "bytes": None if response.is_streamed else response.calculate_content_length(),
                "ms": round(seconds * 1000, 1),
                "stages_ms": {name: round(part * 1000, 1) for name, part in stages.items()},
                "client": request.remote_addr,
            }
            log_event(ACCESS_LOG, "request", fields)
        return response

    @app.teardown_request
    def leave(error: BaseException | None) -> None:
        if g.pop("is_in_flight", False):
            IN_FLIGHT.dec()


_QUERY_LOG = "QUERY_LOG"


def install_query_log(app: Flask, settings: Settings) -> None:
    """Write the queries of the application to the file of the settings, if there is one."""
    app.config[_QUERY_LOG] = settings.query_log


def check_query_log(settings: Settings) -> None:
    """Raise EsrError if the file of queries cannot be written."""
    if settings.query_log:
        try:
            os.close(_open_query_log(settings.query_log))
        except OSError as error:
            raise EsrError(f"cannot write {settings.query_log}: {(error.strerror or '').lower()}") from None


def record_search(query: str, hits: int) -> None:
    """Count a search of the current request, and log its query. `hits` is the number of candidates."""
    if not has_request_context():
        return
    index = g.get("index_name", "")
    SEARCHES.labels(index).inc()
    if not hits:
        WITHOUT_HITS.labels(index).inc()
    path = current_app.config.get(_QUERY_LOG)
    traces.note_search(index, query if path else "", hits)
    if path:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "index": index,
            "query": query,
            "hits": hits,
            "request_id": g.get("request_id"),
        }
        try:
            file = _open_query_log(path)  # each time, so that the file may be moved away
            try:
                os.write(file, write_json(line, sort_keys=False) + b"\n")
            finally:
                os.close(file)
        except OSError as error:
            current_app.logger.error("a query was not written to %s: %s", path, error)


def _open_query_log(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
