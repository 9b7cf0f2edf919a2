"""How many requests a client may make, and who a client is behind proxies."""

from __future__ import annotations

import math
import os
import sqlite3
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path

from flask import Flask, g, request
from limits import RateLimitItem, parse
from werkzeug.exceptions import TooManyRequests
from werkzeug.middleware.proxy_fix import ProxyFix

from esr.errors import UsageError
from webui.running import metrics
from webui.running.health import PATHS
from webui.running.settings import Settings
from webui.running.sliding_window import Window

_NETWORK = 64
"""Bits of an IPv6 address that tell a client: it has all addresses that begin so."""


def install(app: Flask, settings: Settings) -> None:
    """Trust as many proxies as the settings say, and limit clients if they say so.

    Workers count together where they share a folder. Raises UsageError for a rate that cannot be read.
    """
    if settings.proxies:
        n = settings.proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=n, x_proto=n, x_host=n, x_prefix=n)  # type: ignore[method-assign]
    rate = check(settings.rate)
    if rate is None:
        return
    shared = os.environ.get(metrics.FOLDER)
    path = str(Path(shared) / "rates.sqlite") if shared else ":memory:"
    window = Window(path, rate.amount, rate.get_expiry())

    def count(cost: int) -> None:
        try:
            again = window.hit(client(request.remote_addr), cost)
        except sqlite3.Error as error:  # better too many answers than none
            app.logger.error("requests are not counted: %s", error)
            return
        if again:
            raise TooManyRequests(retry_after=math.ceil(again))

    @app.before_request
    def limit() -> None:
        g.count = count
        if request.path not in PATHS and request.endpoint != "static":
            count(1)


def charge(more: int) -> None:
    """Count the present request as that many more. Raises TooManyRequests."""
    if more > 0 and "count" in g:
        g.count(more)


def client(address: str | None) -> str:
    """What a client is counted by: its IPv4 address, or its network of IPv6."""
    try:
        known = ip_address(address or "")
    except ValueError:
        return "unknown"
    if not isinstance(known, IPv6Address):
        return str(known)
    return str(known.ipv4_mapped or ip_network((known, _NETWORK), strict=False))


def check(text: str) -> RateLimitItem | None:
    """The rate of a setting, None if there is none. Raises UsageError."""
    try:
        return parse(text) if text else None
    except ValueError:
        raise UsageError(f"ESR_RATE is a rate such as 60/minute, not {text!r}") from None
