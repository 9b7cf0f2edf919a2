"""Authenticates the sender of a request by key, proxy or session, and decides what the sender may search.

Without `ESR_ACCESS` everybody may search everything. With it, every endpoint except those of OPEN needs a
grant of the file. Each request except health checks, static files and the logo is logged as an audit line.

People log in by a password, or through an OpenID Connect provider; their sessions are signed cookies. The
server stores no session. A session ends when its grant is revoked or expires, when the password changes, when
its person logs out, and by the limits of `webui.access.sessions`.
"""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Flask, Response, g, redirect, request, session, url_for
from msgspec import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from esr.access.grants import (
    ANYBODY,
    EVERYBODY,
    Grant,
    GrantFile,
    Grants,
    Passwords,
    hash_password,
    read_grants,
)
from esr.access.rates import parse_rate
from esr.access.restricted import parse_restriction
from esr.dossiers.records import Person
from esr.errors import EsrError, UsageError
from esr.extras import require
from esr.index.contract import Index
from esr.index.view import restrict
from esr.stdlib import import_lazily
from webui.access.login_limits import LoginLimits
from webui.access.sessions import Session, SessionLimits, SignedCookies
from webui.pages.rendering import PageRenderer
from webui.running.logs import log_event
from webui.running.problems import Forbidden, RequestError, Unauthorized, wants_json
from webui.running.served_desk import BY_MAKER
from webui.running.served_indexes import Guard, ServedIndexes
from webui.running.settings import Settings
from webui.translations.language import N_, _

if TYPE_CHECKING:
    import requests
    from authlib.integrations import base_client, flask_client
    from joserfc import errors as joserfc_errors
else:
    base_client = import_lazily("authlib.integrations.base_client")
    flask_client = import_lazily("authlib.integrations.flask_client")
    joserfc_errors = import_lazily("joserfc.errors")
    requests = import_lazily("requests")

# Logins


ENDPOINTS = frozenset({"login", "login_answer", "logout", "openid", "openid_back", "password"})
LEAST_SECRET = 32
"""Minimum length of the secret that signs cookies, in characters."""
_WHO, _CSRF, _NEXT = "who", "csrf", "next"
_ADDRESS_CHARS, _NAME_CHARS = 2_000, 200
"""Maximum length of an address to go on to or to log, and of a name that is logged or shown."""
PROVIDER_SECONDS = 10
"""Timeout of requests to the provider, in seconds."""

_GROUPS_CHARS = 1_500
"""Maximum length of the names of a person's groups together: the cookie of a session has limited room."""


class Sender(NamedTuple):
    """The sender of a request. If the grant is for everybody, `name` is that of the person.

    `groups` are those that a provider or a proxy names; the grant may have more.
    """

    name: str
    grant: Grant
    groups: frozenset[str] = frozenset()


def check_login_settings(settings: Settings) -> None:
    """Raise EsrError if the settings allow no login, or if a package that they need is missing."""
    oidc = settings.oidc_issuer, settings.oidc_client, settings.oidc_secret_file
    if any(oidc) and not all((*oidc, settings.secret_file)):
        raise UsageError(
            "a login by OpenID Connect needs ESR_OIDC_ISSUER, ESR_OIDC_CLIENT, ESR_OIDC_SECRET_FILE and "
            "ESR_SECRET_FILE: set all of them"
        )
    if settings.secret_file:
        read_secret(settings.secret_file, LEAST_SECRET)
        require("a login with a password", "argon2")
    if settings.oidc_issuer:
        if not settings.oidc_issuer.startswith("https://") and not settings.plain_http:
            raise UsageError("ESR_OIDC_ISSUER must begin with https://")
        read_secret(settings.oidc_secret_file)
        require("a login by OpenID Connect", "requests", "authlib")


def read_secret(file: str, least: int = 1) -> str:
    """The secret in a file. Raises EsrError if there is none, or if it has fewer than `least` characters."""
    try:
        secret = Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text"
        raise EsrError(f"cannot read the secret in {file}: {reason.lower()}") from None
    if len(secret) < least:
        raise UsageError(
            f"the secret in {file} is too short: write at least {least} random characters into it, such as "
            "those of: openssl rand -hex 32"
        )
    return secret


def safe_next(address: str) -> str:
    """The address if it is one of this server, else that of the first page: where to go after a login."""
    is_local = address.startswith("/") and not address.startswith("//") and len(address) <= _ADDRESS_CHARS
    if is_local and "\\" not in address and address.isprintable():
        return address
    return url_for("home")


class Logins:
    """The login pages of an application, and the people in its sessions."""

    def __init__(
        self, app: Flask, grants: GrantFile, settings: Settings, render: PageRenderer, rates: str
    ) -> None:
        self._grants = grants
        self._settings = settings
        self._render = render
        self._passwords = Passwords()
        secret, is_secure = read_secret(settings.secret_file, LEAST_SECRET), not settings.plain_http
        self._limits = LoginLimits(rates, secret, is_secure)
        self._sessions = SessionLimits(
            rates, 3_600 * settings.session_hours, 3_600 * settings.session_idle_hours
        )
        self._provider = _provider(app, settings) if settings.oidc_issuer else None
        app.secret_key = secret
        app.session_interface = SignedCookies()
        app.config.update(
            SESSION_COOKIE_NAME="__Host-esr" if is_secure else "esr",
            SESSION_COOKIE_SECURE=is_secure,
            SESSION_COOKIE_HTTPONLY=True,
            SESSION_COOKIE_SAMESITE="Lax",  # with Strict, the redirect back from a provider would not send it
            SESSION_REFRESH_EACH_REQUEST=False,
            PERMANENT_SESSION_LIFETIME=timedelta(hours=settings.session_hours),
        )
        app.add_url_rule("/login", "login", self.page)
        app.add_url_rule("/login", "login_answer", self.log_in, methods=["POST"])
        app.add_url_rule("/logout", "logout", self.log_out, methods=["POST"])
        app.add_url_rule("/password", "password", self.change_password, methods=["POST"])
        if self._provider is not None:
            app.add_url_rule("/login/openid", "openid", self.ask_provider)
            app.add_url_rule("/login/openid/back", "openid_back", self.handle_provider_answer)

    def current(self) -> Sender | None:
        """The person of the session and their grant; None if there is no session or if it has ended."""
        who = _read_session()
        if who is None or not self._sessions.is_valid(who):
            return None
        grant = _unexpired(_read_current(self._grants).find_person(who.name, who.kind))
        if grant is None or grant.mark != who.mark:
            return None
        return Sender(who.name, grant, frozenset(who.groups))

    def note_use(self) -> None:
        """Note in the cookie that the person of the session asks for something."""
        who = Session.from_dict(session[_WHO])
        if (noted := self._sessions.note_use(who)) is not who:
            session[_WHO] = noted.as_dict()

    def redirect(self) -> AnyResponse:
        """Redirect to the login, which returns to the current address."""
        return redirect(url_for("login", next=request.script_root + request.full_path.removesuffix("?")))

    # The pages

    def page(self, message: str | None = None, name: str = "", status: int = 200) -> Response:
        """The login form, with `name` filled in; for somebody who has logged in, the logout button."""
        if _CSRF not in session:
            session[_CSRF] = secrets.token_urlsafe()
        person = self.current()
        response = self._render(
            None,
            "login.html",
            person=person and person.name,
            has_password=person is not None and person.grant.kind == "password",
            has_passwords=_read_current(self._grants).needs_login,
            has_provider=self._provider is not None,
            csrf=session[_CSRF],
            next=safe_next(request.values.get(_NEXT, "")),
            message=message,
            name=name,
        )
        response.status_code = status
        return response

    def log_in(self) -> AnyResponse:
        """Answer the form: a session for the right password, the form again for a wrong one."""
        name = request.form.get("name", "")[:_NAME_CHARS]
        grant = _read_current(self._grants).find_person(name, "password")
        if grant is not None:
            g.attempt = name  # others may be passwords in the wrong field
        self._check_form()
        self._limits.count(name)
        is_right = self._passwords.is_right(grant, request.form.get("password", ""))
        grant = _unexpired(grant)
        if grant is None or not is_right:
            return self.page(N_("The name or the password is wrong."), name, 401)
        response = self._begin(name, grant, request.form.get(_NEXT, ""))
        self._limits.accept(name, response)
        return response

    def log_out(self) -> AnyResponse:
        """End the session. Browsers drop the pages they keep and, if asked to, what scripts have stored."""
        self._check_form()
        self._end()
        response = redirect(url_for("login"))
        kinds = ("cache", "storage") if request.form.get("forget") else ("cache",)
        response.headers["Clear-Site-Data"] = ", ".join(f'"{kind}"' for kind in kinds)
        return response

    def change_password(self) -> AnyResponse:
        """Give the person of the session another password, which ends their other sessions."""
        self._check_form()
        person = self.current()
        if person is None or person.grant.kind != "password":
            raise Unauthorized("log in with a password first", None)
        g.attempt = person.name
        self._limits.count(person.name)
        if not self._passwords.is_right(person.grant, request.form.get("password", "")):
            return self.page(N_("The old password is wrong."), status=403)
        try:
            secret = hash_password(request.form.get("new", ""), person.name)
            changed = self._grants.replace_secret(person.grant, secret)
        except UsageError:
            return self.page(
                N_("Choose another password: 10 to 200 characters, without your name, no common one."),
                status=400,
            )
        except EsrError as error:
            _LOG.error("the password of %s was not changed: %s", person.name, error)
            return self.page(N_("The server may not change passwords: ask its operator."), status=503)
        response = self._begin(person.name, changed, url_for("login"))
        self._limits.accept(person.name, response)
        return response

    def _begin(self, name: str, grant: Grant, next: str, groups: Collection[str] = ()) -> AnyResponse:
        self._end()
        session.permanent = True
        session[_WHO] = Session.begin(name, grant.kind, grant.mark, tuple(sorted(groups))).as_dict()
        return redirect(safe_next(next))

    def _end(self) -> None:
        """End the session of the browser, also for whoever has a copy of its cookie."""
        who = _read_session()
        if who is not None:
            self._sessions.end(who)
        session.clear()

    def _check_form(self) -> None:
        """Raise Forbidden for a form that does not belong to this session (CSRF)."""
        expected = session.get(_CSRF, "")
        if not expected or not hmac.compare_digest(expected.encode(), request.form.get(_CSRF, "").encode()):
            raise Forbidden("the form is too old, or from elsewhere: open the page of the login again", None)

    # OpenID Connect

    def ask_provider(self) -> AnyResponse:
        """Redirect to the provider. State, nonce and verifier are kept in the session."""
        session[_NEXT] = safe_next(request.args.get(_NEXT, ""))
        sent: AnyResponse = self._with_provider(
            lambda provider: provider.authorize_redirect(url_for("openid_back", _external=True))
        )
        return sent

    def handle_provider_answer(self) -> AnyResponse:
        """Begin a session for the person whom the provider names. Raises Unauthorized, Forbidden."""
        token = self._with_provider(lambda provider: provider.authorize_access_token())
        claims, claim = token.get("userinfo") or {}, self._settings.oidc_claim
        name = claims.get(claim)
        if not isinstance(name, str) or not name:
            raise Forbidden(f"the provider does not say the {claim} of this person", None)
        if claim == "email" and claims.get("email_verified") is not True:
            raise Forbidden("the provider has not verified the address of this person", None)
        g.attempt = name[:_NAME_CHARS]
        grant = _find_elsewhere(_read_current(self._grants), name)
        groups = parse_groups(claims.get(self._settings.oidc_groups_claim))
        return self._begin(name, grant, session.get(_NEXT, ""), groups)

    def _with_provider(self, call: Any) -> Any:
        provider = self._provider
        assert provider is not None
        try:
            check_provider(provider.load_server_metadata(), self._settings.oidc_issuer)
            return call(provider)
        except (base_client.OAuthError, joserfc_errors.JoseError) as error:
            raise Unauthorized(f"the login was not completed ({error}): log in again", None) from error
        except (requests.RequestException, ValueError) as error:
            raise ProviderSilent("the provider of logins does not answer: try again later", None) from error


SIGNATURES = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Algorithms of tokens that are signed by a private key of the provider: no other is believed."""


def check_provider(metadata: dict[str, Any], issuer: str) -> None:
    """Raise ValueError for metadata of another issuer, and leave only SIGNATURES in them."""
    named = str(metadata.get("issuer"))
    if named.rstrip("/") != issuer.rstrip("/"):
        _LOG.error("the provider at %s says that it is %s: set ESR_OIDC_ISSUER to it", issuer, named)
        raise ValueError("the metadata are those of another issuer")
    names = "id_token_signing_alg_values_supported"
    metadata[names] = [name for name in metadata.get(names, SIGNATURES[:1]) if name in SIGNATURES]
    if not metadata[names]:
        raise ValueError("the provider has no signature that is believed")


def _read_session() -> Session | None:
    """The session that the cookie holds, None without one."""
    try:
        return Session.from_dict(session[_WHO]) if _WHO in session else None
    except ValidationError:  # of another version
        return None


def parse_groups(names: Any) -> frozenset[str]:
    """The groups of a person in a claim, a text or a list, as many as a session has room for."""
    listed = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    groups, room = set[str](), _GROUPS_CHARS
    for name in listed:
        text = name.strip() if isinstance(name, str) else ""
        room -= len(text)
        if text and text != EVERYBODY and room >= 0:
            groups.add(text)
    if room < 0:
        _LOG.warning("somebody has more groups than %s characters: some are left out", _GROUPS_CHARS)
    return frozenset(groups)


class AccessUnreadable(RequestError):
    """The file of grants cannot be read, so nobody may search until it is repaired."""

    status, code, title = 503, "access_unreadable", N_("Nobody can be admitted")


def _read_current(grants: GrantFile) -> Grants:
    """The grants as they are now. Raises AccessUnreadable; the log has the reason."""
    try:
        return grants.read()
    except EsrError as error:
        message = "the server cannot read who may search, so it admits nobody: tell its operator"
        raise AccessUnreadable(message, None) from error


def _unexpired(grant: Grant | None) -> Grant | None:
    """The grant; None for one that has expired."""
    return grant if grant is not None and grant.is_valid(datetime.now(UTC)) else None


def _find_elsewhere(grants: Grants, name: str) -> Grant:
    """The grant of a person whom a provider or a proxy names. Raises Forbidden."""
    grant = _unexpired(grants.find_person(name, "elsewhere"))
    if grant is None:
        raise Forbidden(f"{name[:_NAME_CHARS]!r} may not search here", None)
    return grant


class ProviderSilent(RequestError):
    """The provider of OpenID Connect does not answer."""

    status, code, title = 503, "provider_unreachable", N_("The login does not respond")


def _provider(app: Flask, settings: Settings) -> Any:
    """The client of the provider. It fetches the provider's addresses and keys when first needed."""
    return flask_client.OAuth(app).register(
        "openid",
        server_metadata_url=settings.oidc_issuer.rstrip("/") + "/.well-known/openid-configuration",
        client_id=settings.oidc_client,
        client_secret=read_secret(settings.oidc_secret_file),
        client_kwargs={
            "scope": "openid profile email",
            "code_challenge_method": "S256",
            "default_timeout": PROVIDER_SECONDS,
        },
    )


# Admission


HEALTH = frozenset({"healthz", "readyz"})
OPEN = HEALTH | ENDPOINTS | {"static", "logo", "messages", "choose_language"}
"""The endpoints that need no grant."""
LINKED = frozenset({"api.dossier_shared", "shared"})
"""The endpoints of links to dossiers, which need no login if the settings let their makers' rights decide."""
LINKED_FILE = "dossier_file"
"""The endpoint of files of dossiers, which belongs to these where the address has the token of a link."""
METRICS = "scraped"
_LOG = logging.getLogger("webui.access")
_AUDIT_LOG = logging.getLogger("webui.audit")

Network = IPv4Network | IPv6Network


def parse_networks(text: str) -> tuple[Network, ...]:
    """The addresses and networks in a setting. Raises UsageError."""
    try:
        return tuple(ip_network(part) for part in text.split())
    except ValueError as error:
        raise UsageError(f"cannot read ESR_USER_HEADER_FROM: {error}") from None


def check(settings: Settings, index_names: Collection[str]) -> None:
    """Report mistakes in the settings and the file of grants before the server starts. Raises EsrError.

    A grant for an index that is not served is only a warning.
    """
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
            if name not in index_names:  # it grants nothing, and must not keep the others from searching
                _LOG.warning(
                    "%s: the grant %r is for an index %r, which is not served: served are %s",
                    settings.access,
                    grant.name,
                    name,
                    ", ".join(index_names),
                )


class _GrantGuard(Guard):
    """Shows a sender the indexes and documents of the grant, and nothing to senders without one."""

    def __init__(self, grants: GrantFile) -> None:
        self._grants = grants

    @contextmanager
    def act_as(self, name: str) -> Iterator[None]:
        current = _read_current(self._grants)
        grant = _unexpired(current.by_name.get(name) or current.find_person(name, "elsewhere"))
        if grant is None:
            raise Forbidden("who made this link may not search here any more", None)
        before, g.sender = g.get("sender"), Sender(name, grant)
        try:
            yield
        finally:
            g.sender = before

    def visible(self, names: Iterable[str]) -> list[str]:
        sender: Sender | None = g.get("sender")
        if sender is None:
            return []
        return [name for name in names if not sender.grant.indexes or name in sender.grant.indexes]

    @property
    def person(self) -> Person | None:
        sender: Sender | None = g.get("sender")
        if sender is None or sender.grant.kind == ANYBODY:
            return None
        return Person(sender.name, sender.groups | set(sender.grant.groups))

    def is_known(self, name: str, *, is_group: bool = False) -> bool | None:
        return _read_current(self._grants).is_known(name, is_group=is_group)

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
    indexes.guard = _GrantGuard(grants)
    door = _Door(grants, logins, indexes, settings)
    app.before_request(door.admit)
    app.jinja_env.globals["login_label"] = door.label
    app.after_request(door.audit)


class _Door:
    """Says who sends a request, admits it, and writes it down."""

    def __init__(
        self, grants: GrantFile, logins: Logins | None, indexes: ServedIndexes, settings: Settings
    ) -> None:
        self._grants, self._logins, self._indexes, self._settings = grants, logins, indexes, settings
        self._believed = parse_networks(settings.user_header_from)

    def _identify(self) -> Sender | None:
        """The sender of the request. Raises Unauthorized for a bad key, Forbidden for an unknown person."""
        current = _read_current(self._grants)
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            grant = _unexpired(current.find_by_key(key.strip()))
            if grant is None:
                raise Unauthorized("this key is unknown, expired or revoked: ask for another one", None)
            return Sender(grant.name, grant)
        if name := _named_by_proxy(self._settings.user_header, self._believed):
            groups = parse_groups(request.headers.get(self._settings.groups_header, "").split(","))
            return Sender(name, _find_elsewhere(current, name), groups)
        if self._logins and (person := self._logins.current()):
            self._logins.note_use()
            return person
        grant = _unexpired(current.by_name.get(ANYBODY))
        return None if grant is None else Sender(ANYBODY, grant)

    def admit(self) -> AnyResponse | None:
        """Answer a request that may not be answered otherwise. Raises Unauthorized or Forbidden."""
        if request.endpoint in OPEN:
            return None
        g.sender = None
        sender = self._identify()
        if sender is None and _has_link() and self._settings.desk_links == BY_MAKER:
            return None
        if sender is None:
            if (
                self._logins
                and request.method in ("GET", "HEAD")
                and not wants_json()
                and request.endpoint != METRICS
            ):
                return self._logins.redirect()
            way = "log in, or send a key" if self._logins else "send a key"
            raise Unauthorized(f"{way} as the header Authorization: Bearer KEY", None)
        g.audited = sender
        if (sender.grant.kind == "metrics") != (request.endpoint == METRICS):
            raise Forbidden(
                "only a key of the kind 'metrics' reads /metrics, and it reads nothing else", None
            )
        g.sender = sender
        counted_as = f"{sender.grant.kind} {sender.name}"
        if rate := parse_rate(sender.grant.rate):
            g.own_rate = rate, counted_as
        elif sender.grant.kind != ANYBODY:
            g.counted_as = counted_as
        g.index_name = self._indexes.choose(request.query_string)
        return None

    def label(self) -> str | None:
        """The name of the person who is logged in, for the head of pages."""
        if self._logins is None:
            return None
        try:
            person = self._logins.current()
        except EsrError:  # the page may be the one that reports this error
            person = None
        return person.name if person else _("Log in")

    def audit(self, response: Response) -> Response:
        """Write a line about the request into the log."""
        if response.status_code == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        sender: Sender | None = g.get("audited")
        if sender is not None and sender.grant.kind in ("password", "elsewhere"):
            response.headers.setdefault("Cache-Control", "private, no-store")
        if request.endpoint not in HEALTH | {"static", "logo"}:
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
            if self._settings.audit_queries and not _has_link():  # whose arguments are secrets
                fields["query"] = request.query_string.decode("utf-8", "replace")[:_ADDRESS_CHARS]
            log_event(_AUDIT_LOG, "audit", fields)
        return response


def _has_link() -> bool:
    """Whether the request shows a dossier by a link, or gets a file of it."""
    is_file = request.endpoint == LINKED_FILE and b"token=" in request.query_string
    return is_file or request.endpoint in LINKED


def _named_by_proxy(header: str, believed: Collection[Network]) -> str:
    """The person whom an authenticating proxy names; empty without one, or if the proxy is not trusted."""
    name = request.headers.get(header, "").strip() if header else ""
    if not name:
        return ""
    # That of a client whom a proxy names would be forged, also if the proxy itself has none (a socket).
    original = request.environ.get("werkzeug.proxy_fix.orig", request.environ)
    try:
        address = ip_address(original.get("REMOTE_ADDR"))
    except ValueError:
        return ""
    address = getattr(address, "ipv4_mapped", None) or address
    if not any(address in network for network in believed):
        return ""
    if "," in name:  # the header was sent twice: the proxy does not replace that of its clients
        raise Forbidden("the header with the name of the person is given twice", None)
    return name
