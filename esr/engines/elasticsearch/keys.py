"""API keys of Elasticsearch."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster


def make_key(where: str, roles: Mapping[str, Any]) -> str:
    """A new API key with these rights, as ESR_API_KEY takes it. The present login must be one of a user.

    A key never has more rights than the user that makes it. Raises EsrError where it may make none.
    """
    with closing(Cluster(where)) as cluster, cluster.errors():
        answer = cluster.client.security.create_api_key(
            name=f"esr-{cluster.alias}-{'-'.join(roles)}", role_descriptors=dict(roles)
        )
    encoded: str = answer["encoded"]
    return encoded
