"""Who may ask an engine now: so that an engine that hangs does not take every thread of the server."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from esr.errors import EngineUnreachable, EsrError

PAUSE = 2.0
"""Seconds for which an engine that does not answer is left alone."""
FAILURES = 3
"""Failures in a row after which that happens: one alone may be the request's."""


FAIR = 0.2
"""The share of its time that a request keeps for asking: it waits for a place no longer.

An engine that was given less has not failed by its silence: where there is a queue, some come to ask late.
"""


class Busy(EsrError):
    """More requests came than can be answered in time."""


class Breaker:
    """Remembers that an engine does not answer: then one request at a time tries it, others fail at once."""

    def __init__(self, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience
        self.fair = FAIR * patience
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._again = 0.0
        self._trying = False
        self._message = ""

    def look(self) -> None:
        """Raises EngineUnreachable while the engine is left alone."""
        if self._failures >= FAILURES and self._clock() < self._again:
            raise EngineUnreachable(f"{self._message} (not asked again yet)")

    def check(self) -> None:
        """The same, for who will ask now: while that is under way, others fail."""
        with self._lock:
            self.look()
            self._again = self._clock() + self._patience
            self._trying = True

    def failed(self, error: EngineUnreachable) -> None:
        with self._lock:
            self._failures += 1
            self._again = self._clock() + PAUSE
            self._trying = False
            self._message = str(error)

    def worked(self) -> None:
        with self._lock:
            self._failures = 0
            self._trying = False

    def left(self) -> None:
        """Who asked is done. If it did not come to ask, the next one may try at once."""
        with self._lock:
            if self._trying:
                self._trying = False
                self._again = self._clock()


class Places:
    """A number of places, given away in the order in which they were asked for.

    A semaphore lets who comes pass those who wait, and they wait until their time is over.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, seconds: float) -> bool:
        """Whether there was a place in time."""
        turn = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                return True
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


class Gate:
    """Lets some requests through to one engine at a time and makes others wait, not too many of them.

    `inside` is shared by the gates of a process: it counts those that wait and those that are through.
    """

    def __init__(self, slots: int, inside: threading.BoundedSemaphore, patience: float) -> None:
        self._slots = Places(slots)
        self._inside = inside
        self.breaker = Breaker(patience)

    def enter(self, seconds: float) -> None:
        """Wait for a place, not all of this time. Raises Busy, or EngineUnreachable as the breaker says."""
        self.breaker.look()
        if not self._inside.acquire(blocking=False):
            raise Busy("as many requests wait as there may be")
        try:
            if not self._slots.acquire(seconds * (1 - FAIR)):
                raise Busy("no place became free in time")
            try:
                self.breaker.check()  # it may have failed while this one waited
            except EngineUnreachable:
                self._slots.release()
                raise
        except EsrError:
            self._inside.release()
            raise

    def leave(self) -> None:
        self.breaker.left()
        self._slots.release()
        self._inside.release()
