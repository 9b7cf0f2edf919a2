"""Admits requests: finds out who sends each, by key, proxy or session, and what the sender may search.

Without `ESR_ACCESS` everybody may search everything. With it, every address needs a grant of the file, except
those of OPEN. Each request except for health checks, static files and the logo is logged as an audit line.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import NamedTuple

from flask import Flask, Response, g, request
from werkzeug.wrappers import Response as AnyResponse

from esr.errors import EsrError, UsageError
from esr.index.contract import Index
from webui.access.grants import ANYBODY, Grant, GrantFile, read_grants
from webui.access.login import ENDPOINTS, Logins, check_login_settings
from webui.access.restricted import parse_restriction, restrict
from webui.pages.rendering import PageRenderer
from webui.running.problems import wants_json
from webui.running.rate_limit import parse_rate
from webui.running.request_errors import Forbidden, Unauthorized
from webui.running.served_indexes import Guard, ServedIndexes
from webui.running.settings import Settings

HEALTH = frozenset({"healthz", "readyz"})
OPEN = HEALTH | ENDPOINTS | {"static", "logo"}
"""The endpoints that need no grant."""
METRICS = "scraped"
_AUDIT_LOG = logging.getLogger("webui.audit")
_QUERY_CHARS = 2_000

Network = IPv4Network | IPv6Network


class Sender(NamedTuple):
    """Who sends a request. The name is that of the person where the grant is for everybody."""

    name: str
    grant: Grant


def parse_networks(text: str) -> tuple[Network, ...]:
    """The addresses and networks in a setting. Raises UsageError."""
    try:
        return tuple(ip_network(part) for part in text.split())
    except ValueError as error:
        raise UsageError(f"cannot read ESR_USER_HEADER_FROM: {error}") from None


def check(settings: Settings, index_names: Collection[str]) -> None:
    """Report mistakes in the settings and the file of grants before the server starts. Raises EsrError."""
    check_login_settings(settings)
    if bool(settings.user_header) != bool(settings.user_header_from):
        raise UsageError("ESR_USER_HEADER and ESR_USER_HEADER_FROM need each other: set both or none")
    parse_networks(settings.user_header_from)
    if not settings.access:
        if settings.secret_file or settings.user_header or settings.oidc_issuer:
            raise UsageError("nobody needs a login without ESR_ACCESS: set it to a file made by esr keys")
        return
    grants = read_grants(Path(settings.access))
    if grants.needs_login and not settings.secret_file:
        raise UsageError(f"{settings.access} has people with passwords: set ESR_SECRET_FILE for their logins")
    for grant in grants.by_name.values():
        for name in grant.indexes:
            if name not in index_names:
                served = ", ".join(index_names)
                raise UsageError(f"the grant {grant.name!r} is for an index {name!r}: served are {served}")


class _GrantGuard(Guard):
    """Shows a sender what the grant is for, and nothing to others."""

    def visible(self, names: Iterable[str]) -> list[str]:
        sender: Sender | None = g.get("sender")
        if sender is None:
            return []
        return [name for name in names if not sender.grant.indexes or name in sender.grant.indexes]

    @property
    def part(self) -> str:
        sender: Sender | None = g.get("sender")
        return sender.grant.filter if sender is not None else ""

    def restrict(self, index: Index) -> Index:
        sender: Sender | None = g.get("sender")
        if sender is None:
            raise Unauthorized("nobody is logged in", None)
        return restrict(index, _condition(sender.grant.filter)) if sender.grant.filter else index


_condition = lru_cache(parse_restriction)


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer, rates: str) -> None:
    """Admit only requests that the settings and the file of grants allow."""
    app.jinja_env.globals["login_label"] = lambda: None
    if not settings.access:
        return
    grants = GrantFile(Path(settings.access))
    logins = Logins(app, grants, settings, render, rates) if settings.secret_file else None
    believed = parse_networks(settings.user_header_from)
    indexes.guard = _GrantGuard()

    def identify() -> Sender | None:
        """Who sends the request. Raises Unauthorized for a bad key, Forbidden for an unknown person."""
        current = grants.read()
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            grant = current.of_key(key.strip())
            if grant is None or not grant.is_valid(datetime.now(UTC)):
                raise Unauthorized("this key is unknown, expired or revoked: ask for another one", None)
            return Sender(grant.name, grant)
        if name := _named_by_proxy(settings.user_header, believed):
            grant = current.of_person(name, "elsewhere")
            if grant is None or not grant.is_valid(datetime.now(UTC)):
                raise Forbidden(f"{name[:60]!r} may not search here", None)
            return Sender(name, grant)
        if logins and (person := logins.current()):
            return Sender(*person)
        grant = current.by_name.get(ANYBODY)
        return Sender(ANYBODY, grant) if grant and grant.is_valid(datetime.now(UTC)) else None

    @app.before_request
    def admit() -> AnyResponse | None:
        if request.endpoint in OPEN:
            return None
        g.sender = None
        sender = identify()
        if sender is None:
            if (
                logins
                and request.method in ("GET", "HEAD")
                and not wants_json()
                and request.endpoint != METRICS
            ):
                return logins.redirect()
            way = "log in, or send a key" if logins else "send a key"
            raise Unauthorized(f"{way} as the header Authorization: Bearer KEY", None)
        g.audited = sender
        if (sender.grant.kind == "metrics") != (request.endpoint == METRICS):
            raise Forbidden(
                "only a key of the kind 'metrics' reads /metrics, and it reads nothing else", None
            )
        g.sender = sender
        if rate := parse_rate(sender.grant.rate):
            g.own_rate = rate, f"{sender.grant.kind} {sender.name}"
        g.index_name = indexes.choose(request.query_string)
        return None

    def label() -> str | None:
        if logins is None:
            return None
        try:
            person = logins.current()
        except EsrError:  # the page may be the one that says so
            person = None
        return person[0] if person else "Log in"

    app.jinja_env.globals["login_label"] = label

    @app.after_request
    def audit(response: Response) -> Response:
        if response.status_code == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        if request.endpoint not in HEALTH | {"static", "logo"}:
            sender: Sender | None = g.get("audited")
            fields = {
                "who": sender and sender.name,
                "kind": sender and sender.grant.kind,
                "operation": request.endpoint,
                "index": g.get("index_name"),
                "method": request.method,
                "status": response.status_code,
                "client": request.remote_addr,
            }
            if "attempt" in g:
                fields["attempt"] = g.attempt
            if settings.audit_queries:
                fields["query"] = request.query_string.decode("utf-8", "replace")[:_QUERY_CHARS]
            record = logging.LogRecord(_AUDIT_LOG.name, logging.INFO, __file__, 0, "audit", (), None)
            record.json_fields = fields
            _AUDIT_LOG.handle(record)
        return response


def _named_by_proxy(header: str, believed: Collection[Network]) -> str:
    """The person whom an authenticating proxy names; empty if none does, or if the proxy is not believed."""
    name = request.headers.get(header, "").strip() if header else ""
    if not name:
        return ""
    original = request.environ.get("werkzeug.proxy_fix.orig") or {}
    peer = original.get("REMOTE_ADDR") or request.environ.get("REMOTE_ADDR") or ""
    try:
        address = ip_address(peer)
    except ValueError:
        return ""
    address = getattr(address, "ipv4_mapped", None) or address
    if not any(address in network for network in believed):
        return ""
    if "," in name:  # the header came twice, so the proxy does not replace that of its clients
        raise Forbidden("the header with the name of the person is given twice", None)
    return name
