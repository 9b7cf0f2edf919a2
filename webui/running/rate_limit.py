"""Rate limits: how many requests a client may make, and how clients behind proxies are distinguished.

All workers count in one SQLite file, which needs no further server.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable
from functools import lru_cache, partial
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple

from flask import Flask, Response, g, request
from werkzeug.exceptions import TooManyRequests
from werkzeug.middleware.proxy_fix import ProxyFix

from esr.access.rates import Rate, parse_rate
from esr.threads import take_turns
from webui.running.problems import RequestError
from webui.running.settings import Settings

_TABLE = """
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS hits (until REAL, client TEXT, cost INTEGER);
CREATE INDEX IF NOT EXISTS by_client ON hits (client, until);
CREATE INDEX IF NOT EXISTS by_time ON hits (until);
"""
_WINDOWS = 256
"""Maximum number of different rates of keys that are cached."""
HEALTH_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""The addresses of health checks, which are not counted."""
_LOCK_SECONDS = 2.0
"""Seconds to wait while other workers lock the file."""


class RateState(NamedTuple):
    """The state of a client after a request. `retry`: seconds until it may be repeated, 0 if it was counted.

    `limit` and `remaining` are costs; the oldest counted request expires after `reset` seconds.
    """

    retry: float
    limit: int
    remaining: int
    reset: float


class SlidingWindow:
    """Allows each client a total cost of `amount` within any `seconds`. `path`: a file, or ":memory:"."""

    def __init__(
        self, path: str, amount: int, seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._amount = amount
        self._seconds = seconds
        self._clock = clock
        self._database = sqlite3.connect(
            path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._database.executescript(_TABLE)

    @take_turns
    def hit(self, client: str, cost: int = 1) -> RateState:
        """Count a request, unless it exceeds the limit. Raises sqlite3.Error if the file cannot be used."""
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            now = self._clock()
            self._database.execute("DELETE FROM hits WHERE until <= ?", (now,))
            hits = self._database.execute(
                "SELECT until, cost FROM hits WHERE client = ? ORDER BY until", (client,)
            ).fetchall()
            free = self._amount - sum(hit_cost for _, hit_cost in hits)
            is_allowed = cost <= free
            if is_allowed:
                row = now + self._seconds, client, cost
                self._database.execute("INSERT INTO hits VALUES (?, ?, ?)", row)
        reset = float(hits[0][0]) - now if hits else self._seconds
        if is_allowed:
            return RateState(0.0, self._amount, free - cost, reset)
        left = free
        for until, hit_cost in hits:
            left += hit_cost
            if cost <= left:
                return RateState(float(until) - now, self._amount, free, reset)
        return RateState(self._seconds, self._amount, free, reset)

    @take_turns
    def undo(self, client: str, cost: int = 1) -> None:
        """Take back a counted request of this cost, the latest one. Raises sqlite3.Error as `hit` does."""
        latest = "SELECT rowid FROM hits WHERE client = ? AND cost = ? ORDER BY until DESC LIMIT 1"
        with self._database:
            self._database.execute(f"DELETE FROM hits WHERE rowid = ({latest})", (client, cost))  # nosec B608  # a constant


COMPLETION_ENDPOINTS = frozenset({"api.complete", "api.values"})
COMPLETIONS_PER_REQUEST = 10
"""Completions that a client may request for each other request that it may make.

The page requests completions at each pause in typing. Counted as searches, they would exhaust the limit
before the first search; uncounted, they would bypass it.
"""
NETWORK_BITS = 64
"""Bits of an IPv6 address that identify a client, which has all addresses that begin with them."""


def install(app: Flask, settings: Settings, path: str) -> None:
    """Trust as many proxies as the settings say, and limit clients if the settings have a rate.

    Workers with the same `path`, that of a file or ":memory:", count together. A key or a person may have a
    rate of its own (`g.own_rate`). Raises UsageError for an invalid rate.
    """
    if settings.proxies:
        n = settings.proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=n, x_proto=n, x_host=n, x_prefix=n)  # type: ignore[method-assign]
    everybody = parse_rate(settings.rate)
    if everybody is None and not settings.access:
        return

    counter = _Counter(app, everybody, path)

    @app.before_request
    def limit() -> None:
        g.count_queries = counter.count_queries
        if request.path not in HEALTH_PATHS and request.endpoint not in ("static", "logo", "messages"):
            counter.count(1)

    @app.after_request
    def add_headers(response: Response) -> Response:
        """Say in headers how many requests remain."""
        standing: RateState | None = g.get("standing")
        if standing:
            response.headers["RateLimit-Limit"] = str(standing.limit)
            response.headers["RateLimit-Remaining"] = str(standing.remaining)
            response.headers["RateLimit-Reset"] = str(math.ceil(standing.reset))
        return response


class _Counter:
    """Counts the requests of each client in the file at a path."""

    def __init__(self, app: Flask, everybody: Rate | None, path: str) -> None:
        self._app = app
        self._everybody = everybody
        self._window = lru_cache(_WINDOWS)(partial(SlidingWindow, path))

    def count(self, cost: int) -> None:
        """Count the current request. Raises TooManyRequests."""
        rate, client = self._current_rate()
        if rate is None:
            return
        try:
            if request.endpoint in COMPLETION_ENDPOINTS:
                completions = self._window(rate.amount * COMPLETIONS_PER_REQUEST, rate.seconds)
                standing = completions.hit(f"{client} completions", cost)
            else:
                standing = self._window(rate.amount, rate.seconds).hit(client, cost)
        except sqlite3.Error as error:  # the request is answered without a limit
            self._app.logger.error("requests are not counted: %s", error)
            return
        g.standing = standing
        if standing.retry:
            raise TooManyRequests(retry_after=math.ceil(standing.retry))

    def count_queries(self, number: int) -> None:
        """Count all queries but the first of the current request. Raises TooManyRequests and RequestError."""
        rate, _ = self._current_rate()
        if rate is not None and number > rate.amount:  # no retry could succeed
            limit = f"{rate.amount:,} in {rate.seconds:,} s"
            raise RequestError(f"there are {number:,} queries: at most {limit} are allowed", "queries")
        if number > 1:
            self.count(number - 1)

    def _current_rate(self) -> tuple[Rate | None, str]:
        """The rate of the current request, and the name of the client that it counts for.

        Whoever has a grant is counted apart from others at the same address.
        """
        granted: tuple[Rate, str] | None = g.get("own_rate")
        address = client_key(request.remote_addr)
        return granted or (self._everybody, f"{g.counted_as} {address}" if "counted_as" in g else address)


def count_queries(number: int) -> None:
    """Count the current request, which was counted once, for each of its other queries too.

    Raises TooManyRequests, or RequestError for more queries than the rate ever allows at once.
    """
    if "count_queries" in g:
        g.count_queries(number)


def client_key(address: str | None, bits: int = NETWORK_BITS) -> str:
    """The key that a client is counted by: its IPv4 address, or its IPv6 network of so many bits."""
    try:
        parsed = ip_address(address or "")
    except ValueError:
        return "unknown"
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((parsed, bits), strict=False))
