"""Counts and latencies of the server, as Prometheus reads them.

With several workers, the variable PROMETHEUS_MULTIPROC_DIR names a folder that they share. The library wants
it set before this module is imported, and reads all `*.db` there.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

__all__ = ["CONTENT_TYPE", "ERRORS", "FOLDER", "IN_FLIGHT", "LATENCY", "REQUESTS", "STAGES", "text"]

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_REGISTRY = CollectorRegistry()
_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUESTS = Counter("esr_requests", "Requests that were answered.", ("route", "status"), registry=_REGISTRY)
ERRORS = Counter("esr_errors", "Errors that were told, by their code.", ("code",), registry=_REGISTRY)
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


def text() -> bytes:
    """All of it, of all workers."""
    if FOLDER not in os.environ:
        return generate_latest(_REGISTRY)
    together = CollectorRegistry()
    multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return generate_latest(together)
