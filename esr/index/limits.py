"""Limits of an engine's work: the deadline of a request, and the memory for search caches.

The caller sets the deadline, which is kept in a context variable and checked before each request to the
engine. The environment variable ESR_CACHE_BYTES limits what a process caches of searches of a folder.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from operator import attrgetter
from typing import Any, TypeVar

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


_LEAST_SIZE = 1 << 10
"""Least size in bytes that a value counts as, which limits the number of small values."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SearchMemory:
    """Values by key, shared by the caches of a folder's searches.

    If they exceed the limit together, the least recently used are dropped. A single value may exceed the
    limit, since its search needs it. Threads share it.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit: int = read_cache_limit() if limit is None else limit
        self.used: int = 0
        """Size of all values in bytes."""
        self.entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        """Values with their sizes, most recently used last."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.entries)

    def get(self, key: Hashable, make: Callable[[], V], size: Callable[[V], int] = attrgetter("nbytes")) -> V:
        """The value of a key, created if missing. If it grows later, call `resize`.

        Two threads may create it at once; both get the same value.
        """
        with self._lock:
            entry = self.entries.get(key)
            if entry is not None:
                self.entries.move_to_end(key)
                used: V = entry[0]
                return used
        computed = make()
        with self._lock:
            value: V = self.entries[key][0] if key in self.entries else computed
            self._use(key, value, size(value))
        return value

    def get_many(
        self,
        keys: Collection[K],
        make: Callable[[Sequence[K]], Sequence[V]],
        size: Callable[[V], int] = attrgetter("nbytes"),
    ) -> dict[K, V]:
        """The values of distinct keys. Missing values are created together, in order."""
        known_values: dict[K, V] = {}
        missing: list[K] = []
        values = self.entries
        with self._lock:
            for key in keys:
                entry = values.get(key)
                if entry is None:
                    missing.append(key)
                else:
                    values.move_to_end(key)
                    known_values[key] = entry[0]
        if missing:
            new_items = list(zip(missing, make(missing), strict=True))
            known_values.update(new_items)
            with self._lock:
                for key, value in new_items:
                    self._use(key, value, size(value))
        return known_values

    def resize(self, key: Hashable, size: int) -> None:
        """Update the size of a value that has grown in use."""
        with self._lock:
            if key in self.entries:
                self._use(key, self.entries[key][0], size)

    def _use(self, key: Hashable, value: object, size: int) -> None:
        _, before = self.entries.pop(key, (None, 0))
        size = max(size, _LEAST_SIZE)
        self.entries[key] = value, size
        self.used += size - before
        while self.used > self.limit and len(self.entries) > 1:
            self.used -= self.entries.popitem(last=False)[1][1]
