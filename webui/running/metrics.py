"""Counts and latencies of the server, for Prometheus.

With several workers, the library adds up what they write to a folder that they share (`shared_counts.py`). It
needs to know the folder before this module is imported, and reads all `*.db` files there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

from webui.running import shared_counts

__all__ = [
    "CONTENT_TYPE",
    "ERRORS",
    "IN_FLIGHT",
    "LATENCY",
    "REQUESTS",
    "STAGES",
    "count_request",
    "expose",
]

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
    """Count a request that was answered, with the seconds that it took, in all and by stage."""
    _requests(route, status).inc()
    _latency(route).observe(seconds)
    for stage, part in stages.items():
        _stage(stage).observe(part)


# Looking up a metric by its labels takes as long as counting. There are few routes, statuses and stages.
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
    if shared_counts.FOLDER not in os.environ:
        return generate_latest(_REGISTRY)
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
