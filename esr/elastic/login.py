"""The login to Elasticsearch, read from environment variables, and the translation of its client's errors.

Secrets are never shown. Translated errors say what happened, at which server, and what to do.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elastic_transport import ConnectionError, ConnectionTimeout, TlsError, TransportError
from elasticsearch import ApiError, UnsupportedProductError

from esr.elastic.dialect import ELASTICSEARCH, OPENSEARCH, Dialect
from esr.elastic.location import is_of_period, sentences_index
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable, UsageError
from esr.index.generations import LOAD_OVER, describe_missing
from esr.index.login_variables import (
    API_KEY,
    API_KEY_FILE,
    CA_FILE,
    INSECURE,
    PASSWORD,
    PASSWORD_FILE,
    USER,
    login_variables,
)
from esr.stdlib import compile_lazily

_LOG = logging.getLogger("esr")


@dataclass(frozen=True, slots=True)
class Login:
    """The login and the trusted certificates of a client. Its repr leaves out the secrets."""

    api_key: str | None = field(default=None, repr=False)
    basic_auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_file: str | None = None
    insecure: bool = False

    @classmethod
    def resolve(cls, basic_auth: tuple[str, str] | None, environ: Mapping[str, str] | None = None) -> Login:
        """The login of the location, or else that of the environment. Raises UsageError."""
        environ = login_variables() if environ is None else environ
        key = password = None
        if basic_auth is None:
            key = _secret(environ, API_KEY, API_KEY_FILE)
            password = _secret(environ, PASSWORD, PASSWORD_FILE)
            user = environ.get(USER)
            if user and key:
                raise UsageError(
                    f"{USER} and {API_KEY} are both set, and only one login can be used: unset one"
                )
            if bool(user) != bool(password):
                raise UsageError(f"{USER} and {PASSWORD} (or {PASSWORD_FILE}) belong together: set both")
            basic_auth = (user, password) if user and password else None
        return cls(key, basic_auth, _ca_file(environ.get(CA_FILE)), _is_insecure(environ.get(INSECURE)))

    @property
    def is_anonymous(self) -> bool:
        return self.api_key is None and self.basic_auth is None

    def client_options(self, url: str) -> dict[str, Any]:
        """The client's options for a server. Logs a warning if its certificate is not verified."""
        options: dict[str, Any] = {"api_key": self.api_key, "basic_auth": self.basic_auth}
        if not url.startswith("https:"):
            return options
        if self.insecure:
            _LOG.warning(
                "%s=1: the certificate of %s is NOT verified, so anyone could intercept the connection",
                INSECURE,
                url,
            )
            return {**options, "verify_certs": False, "ssl_show_warn": False}
        return {**options, "verify_certs": True, **({"ca_certs": self.ca_file} if self.ca_file else {})}


def _secret(environ: Mapping[str, str], variable: str, file_variable: str) -> str | None:
    value, path = environ.get(variable), environ.get(file_variable)
    if value and path:
        raise UsageError(f"{variable} and {file_variable} are both set: unset one")
    if not path:
        return value or None
    try:
        secret = Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise UsageError(f"{file_variable} names {path}, which cannot be read: {reason}") from None
    if not secret:
        raise UsageError(f"{file_variable} names {path}, which is empty")
    return secret


def _ca_file(path: str | None) -> str | None:
    if not path:
        return None

    try:
        ssl.create_default_context(cafile=path)
    except ssl.SSLError:
        raise UsageError(f"{CA_FILE} names {path}, which contains no certificate in PEM form") from None
    except OSError as error:
        raise UsageError(f"{CA_FILE} names {path}, which cannot be read: {error.strerror}") from None
    return path


def _is_insecure(value: str | None) -> bool:
    if value in (None, "", "0"):
        return False
    if value != "1":
        raise UsageError(f"{INSECURE} must be 1 or 0, not {value!r}")
    return True


BUSY = (429, 502, 503, 504)
"""Status codes of a server that is overloaded or not ready."""
DISK_FULL = "flood-stage"
"""Part of Elasticsearch's reason if an index on a full disk accepts no writes.

The index stays blocked for at least a minute, so retries do not help.
"""
LEFT_BLOCK_MINUTES = 15
"""Minutes after which the write block of a delivery on another machine counts as left behind."""
CLAUSE_LIMIT = compile_lazily(r"maxClauseCount is set to (\d+)")
"""Part of a server's reason if a query has more clauses than it takes."""
_FREE_SPACE = "free space or add a node; the block then ends by itself"
_ADVICE = {
    DISK_FULL: f"its disk is full: {_FREE_SPACE}",
    "read-only": "it was set read-only: remove its setting …blocks.read_only",
    "index write (api)": (
        "writes to it were blocked: remove its setting index.blocks.write if you have set it. A delivery "
        "blocks it for seconds while it copies it: try again. If that was killed, the next enrichment or "
        f"delivery on its machine ends the block, or on any machine after {LEFT_BLOCK_MINUTES} minutes"
    ),
    "failed to parse field": "if the field does not have esr's type, see which other index template matches",
    "unauthorized for": "the login lacks a privilege: esr roles prints what each role needs",
}
"""Advice by a part of Elasticsearch's reason."""


@dataclass(frozen=True, slots=True)
class ErrorTranslator:
    """Translates the errors of one client to EsrErrors. `where` is the location, without its login.

    `dialect` returns the dialect of the server, or that of Elasticsearch until it is known.
    """

    url: str
    where: str
    login: Login
    dialect: Callable[[], Dialect] = lambda: ELASTICSEARCH

    @property
    def server(self) -> str:
        """The name of the server in messages."""
        return f"{self.dialect().name} at {self.url}"

    def translate(self, error: TransportError | ApiError) -> EsrError:
        if isinstance(error, TlsError):
            return EngineUnreachable(self._tls_failure(error))
        if isinstance(error, ConnectionError) and not isinstance(error, ConnectionTimeout):
            hint = "" if self.url.startswith("https:") else ", and whether it requires https://"
            return EngineUnreachable(f"cannot reach {self.server}: check that it is running{hint}")
        if isinstance(error, TransportError):
            return EngineUnreachable(f"{self.server} failed: {error.message}")
        if isinstance(error, UnsupportedProductError):
            return self._not_elasticsearch(error.meta.status)
        return self._api_error(error)

    def index_missing(self) -> IndexMissing:
        return IndexMissing(f"there is no index at {self.where}: make one with esr load")

    def incomplete(self, missing: Sequence[str]) -> IndexUnusable:
        """The error for indices behind the alias that were deleted by hand."""
        # Generations share the indices of periods, so the one before may lack them too.
        restore = (
            "restore them from a snapshot of the server, "
            if any(is_of_period(sentences_index(name)) for name in missing)
            else ""
        )
        return IndexUnusable(
            f"{self.where} is incomplete, as {describe_missing(missing)}: {restore}go back to the generation "
            f"before with esr rollback, or {LOAD_OVER}"
        )

    def unsupported_version(self, version: str) -> IndexUnusable:
        return IndexUnusable(
            f"{self.server} has version {version}: esr needs {_version(self.dialect())} or later"
        )

    def _not_elasticsearch(self, status: int) -> IndexUnusable:
        known = (f"{dialect.name} {_version(dialect)} or later" for dialect in (ELASTICSEARCH, OPENSEARCH))
        return IndexUnusable(
            f"the server at {self.url} is not {', nor '.join(known)}: it answered {status} without the "
            "header X-Elastic-Product"
        )

    def _tls_failure(self, error: TlsError) -> str:
        if "mismatch" in error.message:
            return (
                f"the certificate of {self.server} has other names: {error.message}. "
                "Name the server as its certificate does"
            )
        if "certificate" in error.message.lower():
            return (
                f"the certificate of {self.server} is not trusted: {error.message}. "
                f"Set {CA_FILE} to the certificate of the authority that signed it"
            )
        return f"TLS with {self.server} failed: {error.message}. Check that it serves https"

    def _login_failure(self, error: ApiError) -> str:
        if self.login.is_anonymous:
            return f"{self.server} requires a login: set {API_KEY}, or {USER} and {PASSWORD}"
        credentials = "API key" if self.login.api_key else "user and password"
        if "expired" in str(error.body):
            return (
                f"{self.server} rejects the login: the {credentials} has expired. Create a new one and set it"
            )
        hint = ", or create a new one" if self.login.api_key else ""
        return f"{self.server} rejects the login: check the {credentials}{hint}"

    def _api_error(self, error: ApiError) -> EsrError:
        status, reason = error.meta.status, _innermost_reason(error)
        if status == 401:  # of the server, or of a proxy in front of it
            return EngineUnreachable(self._login_failure(error))
        if status == 413:
            return EsrError(
                f"{self.server} rejects a request for its size: let proxies in front of it pass 100 MB "
                "(nginx: client_max_body_size)"
            )
        if status < 500 and status not in BUSY and not is_from_elasticsearch(error):
            return self._not_elasticsearch(status)
        if DISK_FULL in reason:
            return EngineUnreachable(
                f"a disk of {self.server} is full, so the index accepts no writes: {_FREE_SPACE} ({reason})"
            )
        if status == 403:
            return EsrError(f"{self.server} denies the request: {with_advice(reason)}")
        if limit := CLAUSE_LIMIT.search(reason):
            return UsageError(
                f"the search has too many words or conditions for {self.dialect().name}, which takes "
                f"{int(limit[1]):,} clauses: leave some out, or {self.dialect().more_clauses}"
            )
        if "unable to find script" in reason:
            return IndexUnusable(
                f"{self.where} lacks a stored script: load again, or install index_templates/"
            )
        if status == 404 and "search context" in reason:
            return EsrError(f"{self.server} has closed the read in progress: start again")
        if status == 404:
            return self.index_missing()
        if error.error == "index_closed_exception":
            index = error.body["error"].get("index", "INDEX")
            return IndexUnusable(f"{index} is closed: open it with POST {index}/_open")
        if "media_type" in error.error or "compatible-with" in reason:
            return IndexUnusable(f"{self.server} is too old: esr needs {_version(self.dialect())} or later")
        if "time_exceeded_exception" in reason:
            # A search that times out inside a script fails as if the script were wrong (a bad request).
            # Elsewhere, it returns a partial answer.
            return EngineUnreachable(f"{self.server} did not answer in time")
        if status in BUSY:
            return EngineUnreachable(f"{self.server} is overloaded or not ready: {with_advice(reason)}")
        return EsrError(f"{self.server} answered {status}: {reason}")


def is_from_elasticsearch(error: ApiError) -> bool:
    """Whether Elasticsearch itself answered. Its security sends some answers without the product header."""
    cause = error.body.get("error") if isinstance(error.body, dict) else None
    has_its_form = isinstance(cause, dict) and "type" in cause
    return has_its_form or "x-elastic-product" in error.meta.headers


def with_advice(reason: str) -> str:
    """A reason of Elasticsearch, followed by advice for the operator, if any."""
    for part, advice in _ADVICE.items():
        if part in reason:
            return f"{reason}; {advice}"
    return reason


def _version(dialect: Dialect) -> str:
    return ".".join(map(str, dialect.oldest))


def _innermost_reason(error: ApiError) -> str:
    body = error.body
    if not isinstance(body, dict) or not isinstance(body.get("error"), dict):
        return str(error.error or error.meta.status)
    cause = body["error"]
    shards = cause.get("failed_shards") or []
    if shards:
        cause = shards[0]["reason"]
    while isinstance(cause.get("caused_by"), dict):
        cause = cause["caused_by"]
    return str(cause.get("reason") or cause.get("type"))
