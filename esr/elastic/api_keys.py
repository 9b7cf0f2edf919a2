"""API keys for the roles of esr. A role grants the privileges that it needs, and no more."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from esr.elastic.cluster import Cluster
from esr.elastic.location import lucene_pattern, tables_index
from esr.errors import EngineUnreachable, UsageError
from esr.index.login_variables import ROLES

_SCRIPTS = ["cluster:admin/script/get", "cluster:admin/script/put"]
_LOADER = ["monitor", "manage_index_templates", *_SCRIPTS]
_OPERATOR = [
    *_LOADER,
    "cluster:admin/script/delete",
    "cluster:admin/snapshot/*",
    "cluster:admin/repository/*",
    "cluster:admin/settings/update",
    "cluster:admin/reroute",
]
_PRIVILEGES: Mapping[str, tuple[list[str], list[str]]] = {
    "page": ([], ["read", "view_index_metadata"]),
    "loader": (_LOADER, ["read", "write", "manage"]),
    "operator": (_OPERATOR, ["read", "write", "manage"]),
}
"""Privileges by role: on the cluster, and on the indices of the aliases."""


def role_descriptors(aliases: Sequence[str], roles: Sequence[str] = tuple(ROLES)) -> dict[str, Any]:
    """Role descriptors by name, as the security API takes them, for these aliases and no others."""
    names = [
        name
        for alias in aliases
        for name in (alias, f"{alias}-documents", tables_index(alias), lucene_pattern(alias))
    ]
    return {
        role: {
            "cluster": _PRIVILEGES[role][0],
            "indices": [{"names": names, "privileges": _PRIVILEGES[role][1]}],
        }
        for role in roles
    }


_PAUSE_SECONDS = 1.0


def issue_api_key(where: str, role_descriptors: Mapping[str, Any], patience: float = 0.0) -> str:
    """Create an API key with these roles, and return it as ESR_API_KEY takes it.

    The current login must be that of a user, and a key never has more privileges than that user. A cluster
    that has just been started rejects every login until its own index of users and keys is active; this is
    retried for `patience` seconds. Raises EsrError if the user may not create keys.
    """
    end = time.monotonic() + patience
    with closing(Cluster(where)) as cluster:
        while True:
            try:
                return _create(cluster, role_descriptors)
            except EngineUnreachable:
                if time.monotonic() + _PAUSE_SECONDS > end:
                    raise
            time.sleep(_PAUSE_SECONDS)


def _create(cluster: Cluster, role_descriptors: Mapping[str, Any]) -> str:
    if not cluster.dialect.has_api_keys:
        raise UsageError(
            f"{cluster.dialect.name} at {cluster.url} has no API keys: create a user with these privileges "
            "and set ESR_USER and ESR_PASSWORD (docs/servers.md)"
        )
    with cluster.translate_errors():
        answer = cluster.client.security.create_api_key(
            name=f"esr-{cluster.alias}-{'-'.join(role_descriptors)}", role_descriptors=dict(role_descriptors)
        )
    encoded: str = answer["encoded"]
    return encoded
