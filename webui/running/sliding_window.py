"""A sliding-window rate limit for each client, counted together by all workers of a server.

The `limits` library, which parses the rates, keeps its counts in the memory of one process or in a server
(Redis, Memcached, MongoDB). A SQLite file needs neither a server nor a process of its own that could die.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable

_TABLE = """
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS hits (at REAL, client TEXT, cost INTEGER);
CREATE INDEX IF NOT EXISTS by_client ON hits (client, at);
CREATE INDEX IF NOT EXISTS by_time ON hits (at);
"""
_LOCK_SECONDS = 2.0
"""How long to wait while other workers hold the file."""


class SlidingWindow:
    """Allows each client a cost of `amount` within any `seconds`. `path`: a file, or ":memory:"."""

    def __init__(
        self, path: str, amount: int, seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._amount = amount
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._database = sqlite3.connect(
            path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._database.executescript(_TABLE)

    def hit(self, client: str, cost: int = 1) -> float:
        """Count a request and return 0; or, where the limit is reached, the seconds until it may be repeated.

        Raises sqlite3.Error if the file cannot be used.
        """
        with self._lock, self._database:
            self._database.execute("BEGIN IMMEDIATE")
            now = self._clock()
            self._database.execute("DELETE FROM hits WHERE at <= ?", (now - self._seconds,))
            hits = self._database.execute(
                "SELECT at, cost FROM hits WHERE client = ? ORDER BY at", (client,)
            ).fetchall()
            free = self._amount - sum(hit_cost for _, hit_cost in hits)
            if cost <= free:
                self._database.execute("INSERT INTO hits VALUES (?, ?, ?)", (now, client, cost))
                return 0.0
        for at, hit_cost in hits:
            free += hit_cost
            if cost <= free:
                return float(at) + self._seconds - now
        return self._seconds
