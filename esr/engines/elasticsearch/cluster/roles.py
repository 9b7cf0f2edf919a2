"""The privileges that esr needs in Elasticsearch, and no more: role descriptors for its security API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.index_names import lucene_pattern

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
"""By role: privileges on the cluster, and on the indices of the aliases."""
ROLES = {
    "page": "search and read: esr serve, esr search, esr export",
    "loader": (
        "write to its indices: esr load, append, sync, remove, enrich, refresh-priors, migrate, rollback, "
        "delete"
    ),
    "operator": "what a loader may, snapshots, and the cluster's settings",
}


def role_descriptors(aliases: Sequence[str], roles: Sequence[str] = tuple(ROLES)) -> dict[str, Any]:
    """Role descriptors by name, as the security API takes them, for these aliases and no others."""
    names = [name for alias in aliases for name in (alias, f"{alias}-documents", lucene_pattern(alias))]
    return {
        role: {
            "cluster": _PRIVILEGES[role][0],
            "indices": [{"names": names, "privileges": _PRIVILEGES[role][1]}],
        }
        for role in roles
    }
