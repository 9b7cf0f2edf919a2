"""How esr logs in to Elasticsearch and which certificates it trusts, read from environment variables.

Secrets are never shown.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from esr.engines.login_variables import (
    API_KEY,
    API_KEY_FILE,
    CA_FILE,
    INSECURE,
    PASSWORD,
    PASSWORD_FILE,
    USER,
)
from esr.errors import UsageError

_LOG = logging.getLogger("esr")


@dataclass(frozen=True, slots=True)
class Login:
    """What a client logs in with. Printing it leaves out the secrets."""

    api_key: str | None = field(default=None, repr=False)
    basic_auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_file: str | None = None
    insecure: bool = False

    @classmethod
    def resolve(cls, basic_auth: tuple[str, str] | None, environ: Mapping[str, str] = os.environ) -> Login:
        """The login of the location, if it has one, else that of the environment. Raises UsageError."""
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
    import ssl  # which a search of a folder does not need

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
