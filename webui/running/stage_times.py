"""Where the time of a request goes: seconds by stage, for the metrics and the access log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from flask import g, has_request_context

QUEUE, OPEN, REST = "queue", "open", "rest"
"""Waiting for a slot; opening an index; everything else: reading the request and writing the answer."""


@contextmanager
def time_stage(name: str) -> Iterator[None]:
    """Add the time spent inside to a stage. Stages do not overlap."""
    started = time.perf_counter()
    try:
        yield
    finally:
        if has_request_context():
            seconds = g.setdefault("stage_seconds", {})
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started


def stage_times(total: float) -> dict[str, float]:
    """Seconds by stage of the current request, which took `total` seconds."""
    seconds: dict[str, float] = g.get("stage_seconds", {})
    return {**seconds, REST: max(0.0, total - sum(seconds.values()))}
