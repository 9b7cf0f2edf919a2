"""Where the time of a request goes: seconds by stage, for the metrics and the access log."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

from flask import g

QUEUE, OPEN, REST = "queue", "open", "rest"
"""Waiting for a slot; opening an index; everything else: reading the request and writing the answer."""


class _Stage:
    """Adds the time spent inside to a stage. Requests have some ten: a generator would be slower."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        spent = time.perf_counter() - self._started
        try:
            of_request = g._get_current_object()  # once: each use of `g` looks for it
        except RuntimeError:  # there is no request
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
