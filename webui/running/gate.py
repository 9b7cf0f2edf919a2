"""The gate before an engine: an engine that hangs must not take every thread of the server.

A semaphore that serves those who wait in the order in which they came.

A circuit breaker: an engine that does not answer is left alone for a while.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from esr.errors import EngineUnreachable, EsrError


class FairSemaphore:
    """Like `threading.Semaphore`, which lets newcomers overtake those who wait, until their time is up."""

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, seconds: float) -> bool:
        """Whether a slot became free in time."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(seconds):
            return True
        with self._lock:
            if turn.is_set():  # at the last moment
                return True
            self._waiting.remove(turn)
            return False

    def release(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


PAUSE = 2.0
"""Seconds for which an engine that does not answer is left alone."""
FAILURES = 3
"""Failures in a row that open the breaker. A single one may be the fault of the request."""
FAIR_SHARE = 0.2
"""The share of its deadline that a request keeps for its questions: it waits for a slot no longer.

An engine that was given less time than this has not failed by not answering: where requests queue, some reach
the engine late.
"""


class CircuitBreaker:
    """Remembers that an engine does not answer: one request at a time tries it, the others fail at once.

    `deadline` is the time of a request in seconds.
    """

    def __init__(self, deadline: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._deadline = deadline
        self.fair_seconds = FAIR_SHARE * deadline
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._retry_at = 0.0
        self._is_trying = False
        self._message = ""

    def raise_if_open(self) -> None:
        """Raises EngineUnreachable while the engine is left alone."""
        if self._failures >= FAILURES and self._clock() < self._retry_at:
            raise EngineUnreachable(f"{self._message} (not asked again yet)")

    def begin(self) -> None:
        """The same, for a request that will now ask the engine: while it does, others fail."""
        with self._lock:
            self.raise_if_open()
            self._retry_at = self._clock() + self._deadline
            self._is_trying = True

    def record_failure(self, error: EngineUnreachable) -> None:
        with self._lock:
            self._failures += 1
            self._retry_at = self._clock() + PAUSE
            self._is_trying = False
            self._message = str(error)

    def record_success(self) -> None:
        with self._lock:
            self._failures = 0
            self._is_trying = False

    def end(self) -> None:
        """The request is done. If it never asked the engine, the next one may try at once."""
        with self._lock:
            if self._is_trying:
                self._is_trying = False
                self._retry_at = self._clock()


class Busy(EsrError):
    """More requests came than can be answered in time."""


class Gate:
    """Lets some requests through to one engine at a time and makes others wait, but not too many of them.

    `inside` is shared by the gates of a process: it counts those that wait and those that are through.
    """

    def __init__(self, slots: int, inside: threading.BoundedSemaphore, deadline: float) -> None:
        self._slots = FairSemaphore(slots)
        self._inside = inside
        self.breaker = CircuitBreaker(deadline)

    def enter(self, seconds: float) -> None:
        """Wait for a slot, for part of the seconds. Raises Busy, or EngineUnreachable as the breaker says."""
        self.breaker.raise_if_open()
        if not self._inside.acquire(blocking=False):
            raise Busy("as many requests are waiting as may wait")
        try:
            if not self._slots.acquire(seconds * (1 - FAIR_SHARE)):
                raise Busy("no slot became free in time")
            try:
                self.breaker.begin()  # the engine may have failed while this request waited
            except EngineUnreachable:
                self._slots.release()
                raise
        except EsrError:
            self._inside.release()
            raise

    def leave(self) -> None:
        self.breaker.end()
        self._slots.release()
        self._inside.release()
