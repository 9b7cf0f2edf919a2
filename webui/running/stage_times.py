"""Where the time of a request goes: seconds by stage, for its metrics and its line in the log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from flask import g, has_request_context

QUEUE, OPEN, REST = "queue", "open", "rest"
"""Waiting for a place; opening an index; what is left: reading the request and writing the answer."""


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Count the time that is spent inside for a stage. Stages do not overlap."""
    started = time.perf_counter()
    try:
        yield
    finally:
        if has_request_context():
            known = g.setdefault("stages", {})
            known[name] = known.get(name, 0.0) + time.perf_counter() - started


def stages(total: float) -> dict[str, float]:
    """Seconds by stage of the present request, which took so many in all."""
    known: dict[str, float] = g.get("stages", {})
    return {**known, REST: max(0.0, total - sum(known.values()))}
