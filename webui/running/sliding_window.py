"""How much each client has asked for within the last seconds, counted together by all workers of a server.

The library that reads rates keeps counts in one process's memory or asks a server for them (Redis, Memcached,
MongoDB). A file of SQLite needs neither a server nor a process of its own that could die.
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
_PATIENCE = 2.0
"""Seconds to wait while other workers count."""


class Window:
    """A moving window: at most `amount` for a client within `seconds`. `path`: a file, or ":memory:"."""

    def __init__(
        self, path: str, amount: int, seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._amount = amount
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._database = sqlite3.connect(
            path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        self._database.executescript(_TABLE)

    def hit(self, client: str, cost: int = 1) -> float:
        """Count it and return 0; or, where it is too much, the seconds after which to ask again.

        Raises sqlite3.Error if the file cannot be used.
        """
        with self._lock, self._database:
            self._database.execute("BEGIN IMMEDIATE")
            now = self._clock()
            self._database.execute("DELETE FROM hits WHERE at <= ?", (now - self._seconds,))
            held = self._database.execute(
                "SELECT at, cost FROM hits WHERE client = ? ORDER BY at", (client,)
            ).fetchall()
            free = self._amount - sum(each for _, each in held)
            if cost <= free:
                self._database.execute("INSERT INTO hits VALUES (?, ?, ?)", (now, client, cost))
                return 0.0
        for at, each in held:
            free += each
            if cost <= free:
                return float(at) + self._seconds - now
        return self._seconds
