"""Limits of an engine's work: the deadline of a request, and the memory for search caches.

The caller sets the deadline, which is kept in a context variable and checked before each request to the
engine. The environment variable ESR_CACHE_BYTES limits what a process caches of searches of a folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from esr.errors import EngineUnreachable, UsageError

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the time of the enclosed block. An earlier deadline of an outer block still applies."""
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


VARIABLE = "ESR_CACHE_BYTES"
DEFAULT_CACHE_LIMIT, LEAST = 512_000_000, 1_000_000
CACHE_VARIABLES = {VARIABLE: "maximum number of bytes that a process caches for searches of a folder"}


def read_cache_limit() -> int:
    """The cache limit that the environment sets. Raises UsageError if it is not a number, or too small."""
    text = os.environ.get(VARIABLE)
    if text is None:
        return DEFAULT_CACHE_LIMIT
    try:
        limit = int(text)
    except ValueError:
        limit = -1
    if limit < LEAST:
        raise UsageError(f"{VARIABLE} must be a whole number of bytes, at least {LEAST:,}, not {text!r}")
    return limit
