"""The login to Elasticsearch: its environment variables, its roles, and its removal from printed locations.

This module imports neither engine, since the command line names variables and roles in its options for both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

API_KEY, API_KEY_FILE = "ESR_API_KEY", "ESR_API_KEY_FILE"
USER, PASSWORD, PASSWORD_FILE = "ESR_USER", "ESR_PASSWORD", "ESR_PASSWORD_FILE"
CA_FILE, INSECURE = "ESR_CA_FILE", "ESR_INSECURE"
VARIABLES: Mapping[str, str] = {
    API_KEY: "an API key of Elasticsearch, used if the location of the index has no login",
    API_KEY_FILE: "a file that contains the API key",
    USER: "a user of Elasticsearch, used if the location of the index has no login",
    PASSWORD: "the user's password",
    PASSWORD_FILE: "a file that contains the user's password",
    CA_FILE: "a file (PEM) with the certificates of the authorities to trust, instead of the system's",
    INSECURE: "1: do not verify Elasticsearch's certificate, and log a warning at each connection",
}
ROLES = {
    "page": "search and read: esr serve, esr search, esr export",
    "loader": (
        "write to its indices: esr load, append, sync, remove, enrich, refresh-priors, migrate, rollback, "
        "delete"
    ),
    "operator": "what a loader may, snapshots, and the cluster's settings",
}
"""What each kind of user of esr does."""

_GIVEN: ContextVar[Mapping[str, str]] = ContextVar("login", default={})  # noqa: B039 - never changed
_LOGINS = (API_KEY, API_KEY_FILE, USER, PASSWORD, PASSWORD_FILE)


@contextmanager
def use_login(variables: Mapping[str, str]) -> Iterator[None]:
    """Let these variables take precedence over the environment for connections made in the block.

    If they have a login, the environment's is not used.
    """
    token = _GIVEN.set(variables)
    try:
        yield
    finally:
        _GIVEN.reset(token)


def login_variables() -> Mapping[str, str]:
    """The variables of the environment, and those of `use_login` around the call."""
    variables = _GIVEN.get()
    if not variables:
        return os.environ
    has_login = any(name in variables for name in _LOGINS)
    left_out = _LOGINS if has_login else ()
    return {**{name: value for name, value in os.environ.items() if name not in left_out}, **variables}


def redact(text: str) -> str:
    """Replace the logins in one or more locations, even malformed ones."""
    return re.sub(r"//[^\s]*@", "//…@", text)
