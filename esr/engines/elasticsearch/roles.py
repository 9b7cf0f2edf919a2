"""The rights that esr needs in Elasticsearch, no more: role descriptors for its security API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from esr.engines.access import ROLES

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
_RIGHTS: Mapping[str, tuple[list[str], list[str]]] = {
    "page": ([], ["read", "view_index_metadata"]),
    "loader": (_LOADER, ["read", "write", "manage"]),
    "operator": (_OPERATOR, ["read", "write", "manage"]),
}
"""By role: rights on the cluster, and on the indices of the aliases."""


def descriptors(aliases: Sequence[str], roles: Sequence[str] = tuple(ROLES)) -> dict[str, Any]:
    """Role descriptors by name, as the security API takes them, for these aliases and no others.

    Indices are named by a regular expression of Lucene: `news-*` would also be those of an alias `news-de`.
    """
    names = [name for alias in aliases for name in _names(alias)]
    return {
        role: {
            "cluster": _RIGHTS[role][0],
            "indices": [{"names": names, "privileges": _RIGHTS[role][1]}],
        }
        for role in roles
    }


def _names(alias: str) -> list[str]:
    from esr.engines.elasticsearch.store.meta import DOCUMENTS, SENTENCES  # which brings the client along

    kinds = f"({SENTENCES}|{DOCUMENTS})"
    stamped = rf"/{re.escape(alias)}-[0-9]{{8}}t[0-9]{{12}}(-[0-9]+)?{kinds}/"
    return [alias, f"{alias}-documents", stamped.replace(r"\-", "-")]
