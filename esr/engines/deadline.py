"""How long an engine may take: set by who waits for the answer, looked at by each request to the engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from esr.errors import EngineUnreachable

_ENDS: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is done inside has to be done in this time, or before an earlier deadline around it."""
    ends = time.monotonic() + seconds
    around = _ENDS.get()
    token = _ENDS.set(ends if around is None else min(ends, around))
    try:
        yield
    finally:
        _ENDS.reset(token)


def left(most: float) -> float:
    """Seconds that are left, `most` without a deadline. Raises EngineUnreachable if there are none."""
    ends = _ENDS.get()
    if ends is None:
        return most
    seconds = ends - time.monotonic()
    if seconds <= 0:
        raise EngineUnreachable("the engine did not answer in the time that was given")
    return min(most, seconds)
