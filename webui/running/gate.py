"""The gate before an engine: an engine that hangs must not occupy every thread of the server.

Requests get slots in order of arrival. After failures, a circuit breaker sends an engine no requests for a
while. Other calls for the same page can run on a remote engine in parallel with its search.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from flask import g

from esr.errors import EngineUnreachable, EsrError
from esr.index import view
from esr.index.contract import Index
from esr.index.view import BESIDE, is_beside


class FairSemaphore:
    """A semaphore that serves waiting threads in order of arrival.

    `threading.Semaphore` lets newcomers overtake waiting threads, possibly until these time out.
    """

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._lock = threading.Lock()
        self.waiting: deque[threading.Event] = deque()
        """The events of those that wait for a slot, in their order."""

    def acquire(self, seconds: float) -> bool:
        """Take a slot. Returns whether one became free within `seconds`."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            turn = threading.Event()
            self.waiting.append(turn)
        if turn.wait(seconds):
            return True
        with self._lock:
            if turn.is_set():  # got a slot at the last moment
                return True
            self.waiting.remove(turn)
            return False

    def release(self) -> None:
        with self._lock:
            if self.waiting:
                self.waiting.popleft().set()
            else:
                self._free += 1


PAUSE = 2.0
"""Seconds for which an engine that does not answer is sent no requests."""
FAILURES = 3
"""Consecutive failures that open the breaker. A single failure may be the fault of the request."""
FAIR_SHARE = 0.2
"""The share of its deadline that a request reserves for the engine; it waits for a slot during the rest.

An engine that had less than this share to answer has not failed: the request may have reached it late.
"""


WAITED = "esr.waited_seconds"
"""The key of the environment of a request with the seconds that it waited for a thread."""
NO_THREAD = "esr.no_thread"
"""The key of the environment of a request for which no thread became free in time: it is to be refused."""


def queue_seconds(seconds: float) -> float:
    """The seconds that a request may wait for a thread and a slot, of those until its deadline."""
    return seconds * (1 - FAIR_SHARE)


class CircuitBreaker:
    """Guards an engine that does not answer: one request at a time tries it, the others fail at once.

    `deadline`: the time that a request has, in seconds.
    """

    def __init__(self, deadline: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._deadline = deadline
        self.fair_seconds = FAIR_SHARE * deadline
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._retry_at = 0.0
        self._trying = 0
        """The thread of the request that tries the engine, 0 for none."""
        self._message = ""

    def raise_if_open(self) -> None:
        """Raise EngineUnreachable while the breaker is open."""
        if self._failures >= FAILURES and self._clock() < self._retry_at:
            raise EngineUnreachable(f"{self._message} (not asked again yet)")

    def begin(self) -> None:
        """Begin a request to the engine. Raises EngineUnreachable while the breaker is open.

        The first request after a pause tries the engine; others fail until it ends.
        """
        with self._lock:
            self.raise_if_open()
            if self._failures >= FAILURES:
                self._retry_at = self._clock() + self._deadline
                self._trying = threading.get_ident()

    def record_failure(self, error: EngineUnreachable) -> None:
        """Count a failure. While a request tries the engine, those of older requests change nothing."""
        with self._lock:
            self._failures += 1
            if self._trying in (0, threading.get_ident()):
                self._retry_at = self._clock() + PAUSE
                self._trying = 0
                self._message = str(error)

    def record_success(self) -> None:
        with self._lock:
            self._failures = 0
            self._trying = 0

    def end(self) -> None:
        """End a request. If it tried the engine without failing or succeeding, the next may at once."""
        with self._lock:
            if self._trying == threading.get_ident():
                self._trying = 0
                self._retry_at = self._clock()


class Busy(EsrError):
    """There are more requests than can be answered in time."""


class Room(threading.BoundedSemaphore):
    """How many requests may wait for the gates that share it, or be behind them, at a time."""


class Gate:
    """Limits the requests that use an engine at a time, and those that wait for it.

    `inside`, which all gates of a process share, limits the waiting and the running requests together.
    """

    def __init__(self, slots: int, inside: Room, breaker: CircuitBreaker) -> None:
        self.slots = FairSemaphore(slots)
        self._inside = inside
        self.breaker = breaker

    def enter(self, seconds: float, waited: float = 0.0) -> None:
        """Wait for a slot during part of `seconds`, of which `waited` have passed.

        Raises Busy, or EngineUnreachable by an open breaker.
        """
        self.breaker.raise_if_open()
        if not self._inside.acquire(blocking=False):
            raise Busy("as many requests are waiting as may wait")
        try:
            if not self.slots.acquire(max(0.0, queue_seconds(seconds) - waited)):
                raise Busy("no slot became free in time")
            try:
                self.breaker.begin()  # the engine may have failed while this request waited
            except EngineUnreachable:
                self.slots.release()
                raise
        except EsrError:
            self._inside.release()
            raise

    def leave(self) -> None:
        self.breaker.end()
        self.slots.release()
        self._inside.release()


QUEUE, OPEN, REST = "queue", "open", "rest"
"""Stages: waiting for a thread and a slot, opening an index, and the rest (reading the request, writing the
answer)."""


class Stage:
    """Adds the time spent inside to a stage. A class is faster than a generator."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        elapsed = time.perf_counter() - self._started
        try:
            of_request = g._get_current_object()  # once, since each use of `g` looks it up
        except RuntimeError:  # outside a request
            return
        seconds = of_request.setdefault("stage_seconds", {})
        seconds[self._name] = seconds.get(self._name, 0.0) + elapsed


def time_stage(name: str) -> AbstractContextManager[None]:
    """Add the time spent inside to a stage. Stages do not overlap."""
    return make_stage(name)


make_stage: Callable[[str], AbstractContextManager[None]] = Stage
"""Makes the context manager of a stage. Traces replace it by one that also makes a span."""


def stage_times(total: float) -> dict[str, float]:
    """Seconds by stage of the current request, which took `total` seconds."""
    seconds: dict[str, float] = g.get("stage_seconds", {})
    return {**seconds, REST: max(0.0, total - sum(seconds.values()))}


T = TypeVar("T")


def start_beside(index: Index, work: Callable[[], T]) -> Callable[[], T]:
    """As `esr.index.view.start_beside`, for work whose failures do not count for the circuit breaker."""
    finish = view.start_beside(index, work, lambda: time_stage(BESIDE))
    return lambda: _run_beside(finish)


def _run_beside(work: Callable[[], T]) -> T:
    token = is_beside.set(True)
    try:
        return work()
    finally:
        is_beside.reset(token)
