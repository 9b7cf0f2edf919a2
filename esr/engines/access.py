"""Access control, which Elasticsearch has and an index folder does not: logins, roles and API keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.login import (
    API_KEY_FILE,
    CA_FILE,
    INSECURE,
    PASSWORD_FILE,
    USER,
    VARIABLES,
)
from esr.engines.elasticsearch.cluster.place import alias_of
from esr.engines.elasticsearch.roles import ROLES, descriptors

__all__ = [
    "API_KEY_FILE",
    "CA_FILE",
    "INSECURE",
    "PASSWORD_FILE",
    "ROLES",
    "USER",
    "VARIABLES",
    "create_api_key",
    "describe_roles",
]


def describe_roles(locations: Sequence[str], roles: Sequence[str]) -> dict[str, Any]:
    """The descriptors of these roles for Elasticsearch's security API, for these aliases or their URLs."""
    return descriptors([alias_of(location) for location in locations], roles)


def create_api_key(where: str, descriptors: Mapping[str, Any]) -> str:
    """A new API key with these role descriptors. Raises EsrError if the login may not create one."""
    from esr.engines.elasticsearch.keys import make_key  # deferred: it imports the client

    return make_key(where, descriptors)
