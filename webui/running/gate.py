"""The gate before an engine: an engine that hangs must not take every thread of the server."""

from __future__ import annotations

import threading

from esr.errors import EngineUnreachable, EsrError
from webui.running.circuit_breaker import FAIR_SHARE, CircuitBreaker
from webui.running.fair_semaphore import FairSemaphore


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
