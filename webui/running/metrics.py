"""Counts, latencies and stage times of requests, for Prometheus and the access log.

With several workers, prometheus_client adds up the counts that they write to a shared folder. It looks for
the folder once, when it is first imported: `shared_folder` must be entered before.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from tempfile import mkdtemp

from flask import g
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

COUNTS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder that workers share. Clients' requests are counted there as well.

prometheus_client reads all `*.db` files of the folder, so other files need another suffix.
"""


@contextmanager
def shared_folder(workers: int) -> Iterator[None]:
    """Create the folder that workers share, if there are several. It is deleted at the end."""
    if workers == 1:
        yield
        return
    folder = os.environ[COUNTS_FOLDER] = mkdtemp(prefix="esr-metrics-")
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner:  # workers, which are forks, also get here when they end
            shutil.rmtree(folder, ignore_errors=True)
            del os.environ[COUNTS_FOLDER]


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
IN_FLIGHT = Gauge(
    "esr_requests_in_flight",
    "Requests that are being answered.",
    registry=_REGISTRY,
    multiprocess_mode="livesum",
)


def count_request(route: str, status: int, seconds: float, stages: Mapping[str, float]) -> None:
    """Count an answered request and its seconds, in total and by stage."""
    _requests(route, status).inc()
    _latency(route).observe(seconds)
    for stage, part in stages.items():
        _stage(stage).observe(part)


# Looking up a metric by its labels takes as long as counting, and there are few labels: cache the metrics.
@cache
def _requests(route: str, status: int) -> Counter:
    return REQUESTS.labels(route, str(status))


@cache
def _latency(route: str) -> Histogram:
    return LATENCY.labels(route)


@cache
def _stage(name: str) -> Histogram:
    return STAGES.labels(name)


def expose() -> bytes:
    """All metrics of all workers, in Prometheus' text format."""
    if COUNTS_FOLDER not in os.environ:
        return generate_latest(_REGISTRY)
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


QUEUE, OPEN, REST = "queue", "open", "rest"
"""Stages: waiting for a slot, opening an index, and the rest: reading the request, writing the answer."""


class _Stage:
    """Adds the time spent inside to a stage. A request has about ten, and a generator would be slower."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        spent = time.perf_counter() - self._started
        try:
            of_request = g._get_current_object()  # once, since each use of `g` looks it up
        except RuntimeError:  # outside a request
            return
        seconds = of_request.setdefault("stage_seconds", {})
        seconds[self._name] = seconds.get(self._name, 0.0) + spent


def time_stage(name: str) -> AbstractContextManager[None]:
    """Add the time spent inside to a stage. Stages do not overlap."""
    return _Stage(name)


def stage_times(total: float) -> dict[str, float]:
    """Seconds by stage of the current request, which took `total` seconds."""
    seconds: dict[str, float] = g.get("stage_seconds", {})
    return {**seconds, REST: max(0.0, total - sum(seconds.values()))}
