"""Who esr is to Elasticsearch, and whom it trusts: from variables of the environment, never shown."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from esr.engines.access import API_KEY, API_KEY_FILE, CA_FILE, INSECURE, PASSWORD, PASSWORD_FILE, USER
from esr.errors import UsageError

_LOG = logging.getLogger("esr")


@dataclass(frozen=True, slots=True)
class Login:
    """What a client is made with. Its secrets are left out where it is printed."""

    api_key: str | None = field(default=None, repr=False)
    basic: tuple[str, str] | None = field(default=None, repr=False)
    ca_file: str | None = None
    insecure: bool = False

    @classmethod
    def given(cls, basic: tuple[str, str] | None, variables: Mapping[str, str] = os.environ) -> Login:
        """The login of a place, if it holds one, else that of the environment. Raises UsageError."""
        key = password = None
        if basic is None:
            key = _secret(variables, API_KEY, API_KEY_FILE)
            password = _secret(variables, PASSWORD, PASSWORD_FILE)
            user = variables.get(USER)
            if user and key:
                raise UsageError(f"there are two logins, {USER} and {API_KEY}: leave one out")
            if bool(user) != bool(password):
                raise UsageError(f"{USER} and {PASSWORD} (or {PASSWORD_FILE}) belong together: set both")
            basic = (user, password) if user and password else None
        return cls(key, basic, _ca_file(variables.get(CA_FILE)), _insecure(variables.get(INSECURE)))

    @property
    def is_anonymous(self) -> bool:
        return self.api_key is None and self.basic is None

    def arguments(self, url: str) -> dict[str, Any]:
        """What the client wants for a server. Warns where its certificate is not checked."""
        found: dict[str, Any] = {"api_key": self.api_key, "basic_auth": self.basic}
        if not url.startswith("https:"):
            return found
        if self.insecure:
            _LOG.warning("%s=1: the certificate of %s is NOT checked, anybody may listen", INSECURE, url)
            return {**found, "verify_certs": False, "ssl_show_warn": False}
        return {**found, "verify_certs": True, **({"ca_certs": self.ca_file} if self.ca_file else {})}


def _secret(variables: Mapping[str, str], name: str, file: str) -> str | None:
    said, path = variables.get(name), variables.get(file)
    if said and path:
        raise UsageError(f"{name} and {file} are both set: leave one out")
    if not path:
        return said or None
    try:
        held = Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"{file} names {path}, which cannot be read: {reason}") from None
    if not held:
        raise UsageError(f"{file} names {path}, which is empty")
    return held


def _ca_file(path: str | None) -> str | None:
    if not path:
        return None
    try:
        ssl.create_default_context(cafile=path)
    except ssl.SSLError:
        raise UsageError(f"{CA_FILE} names {path}, which holds no certificate in PEM form") from None
    except OSError as error:
        raise UsageError(f"{CA_FILE} names {path}, which cannot be read: {error.strerror}") from None
    return path


def _insecure(text: str | None) -> bool:
    if text in (None, "", "0"):
        return False
    if text != "1":
        raise UsageError(f"{INSECURE} is 1 or 0, not {text!r}")
    return True
