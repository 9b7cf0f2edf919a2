"""The deadline of an engine's work: set by the caller, checked before each request to the engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from esr.errors import EngineUnreachable

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the time of the enclosed work. An earlier deadline around it still applies."""
    deadline = time.monotonic() + seconds
    outer = _DEADLINE.get()
    token = _DEADLINE.set(deadline if outer is None else min(deadline, outer))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def time_remaining(limit: float) -> float:
    """Seconds until the deadline, at most `limit`. Raises EngineUnreachable once it has passed."""
    deadline = _DEADLINE.get()
    if deadline is None:
        return limit
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise EngineUnreachable("the engine did not answer in the time allowed")
    return min(limit, seconds)
